import assert from "node:assert/strict";
import { test } from "node:test";

import { LARGEST_SPLICE, apply, clean, difference, points, replayed, splices } from "../../../static/js/editor/log/text.js";
import { generator } from "../random.js";

test("what a database refuses is replaced, and offsets stay", () => {
  assert.equal(clean("a\0b\ud83dc\ude00"), "a\ufffdb\ufffdc\ufffd");
  assert.equal(clean("😀 é"), "😀 é");
});

test("positions are code points", () => {
  assert.deepEqual([0, 2, 4, 5].map((end) => points("😀😀x", end)), [0, 1, 2, 3]);
  assert.equal(points("e\u0301"), 2);
  assert.equal(points("\ud83d\ud83d"), 2, "halves of pairs count one each");
});

test("a letter typed among equal ones stands where it was typed", () => {
  for (let at = 0; at < 5; at += 1) {
    assert.deepEqual(difference("aaaa", "aaaaa", [at, at], at + 1), { start: at, end: at, inserted: "a" });
    if (at < 4) assert.deepEqual(difference("aaaa", "aaa", [at, at], at), { start: at, end: at + 1, inserted: "" });
  }
});

test("what was selected goes whole even if part of it comes again", () => {
  assert.deepEqual(difference("one two", "o two", [0, 3], 1), { start: 0, end: 3, inserted: "o" });
});

test("a selection that does not explain the change is passed over", () => {
  assert.deepEqual(difference("one two", "one three", [0, 3], 9), { start: 5, end: 7, inserted: "hree" });
  assert.deepEqual(difference("one two", "one two", [0, 3], 0), { start: 0, end: 0, inserted: "" });
});

test("no change cuts a pair of surrogates", () => {
  assert.deepEqual(difference("a😀b", "a😁b", null, null), { start: 1, end: 3, inserted: "😁" });
  assert.deepEqual(difference("😀", "", [1, 2], 0), { start: 0, end: 2, inserted: "" });
  assert.deepEqual(difference("😀", "😁", [1, 2], 2), { start: 0, end: 2, inserted: "😁" });
});

test("a large change is several splices, none of which cuts a pair", () => {
  const inserted = `x${"😀".repeat(1200)}`;
  const parts = splices("ab", { start: 1, end: 2, inserted });
  assert.ok(parts.length >= 3);
  assert.ok(parts.every(([, , part]) => part.length <= LARGEST_SPLICE && clean(part) === part));
  assert.deepEqual(parts.map(([, deleted]) => deleted), [1, ...parts.slice(1).map(() => 0)]);
  assert.equal(parts.reduce((text, splice) => replayed(text, ...splice), "ab"), `a${inserted}`);
});

test("splices rebuild random changes, whatever selection and caret say", () => {
  const draw = generator(1);
  const pieces = ["a", "a", "b", "aa", " ", "\n", "😀", "👩‍👧", "e\u0301", "ש", "\ufffd", "long ".repeat(300)];
  const make = () => Array.from({ length: draw(6) }, () => pieces[draw(pieces.length)]).join("");
  for (let round = 0; round < 5_000; round += 1) {
    const [head, tail] = [make(), make()];
    const before = draw(4) ? `${head}${make()}${tail}` : make();
    const after = draw(4) ? `${head}${make()}${tail}` : make();
    const ends = [draw(before.length + 1), draw(before.length + 1)].sort((one, other) => one - other);
    const selection = draw(3) ? /** @type {[number, number]} */ (ends) : null;
    const caret = draw(3) ? draw(after.length + 1) : null;
    const change = difference(before, after, selection, caret);
    const told = JSON.stringify({ before, after, selection, caret, change });
    assert.equal(apply(before, change), after, told);
    let text = before;
    for (const [position, deleted, inserted] of splices(before, change)) {
      assert.equal(clean(inserted), inserted, told);
      const characters = Array.from(text);
      const expected = [...characters.slice(0, position), inserted, ...characters.slice(position + deleted)].join("");
      text = replayed(text, position, deleted, inserted);
      assert.equal(text, expected, told);
    }
    assert.equal(text, after, told);
  }
});
