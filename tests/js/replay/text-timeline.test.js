import assert from "node:assert/strict";
import { test } from "node:test";

import { EVERY, Film, textOf, upTo } from "../../../static/js/replay/text-timeline.js";
import { generator } from "../random.js";

/** @typedef {import("../../../static/js/replay/text-timeline.js").Change} Change */

/** @param {number} count @param {number} seed @returns {Change[]} a fifth of them in the middle of the text, many of them deletions */
function randomChanges(count, seed) {
  const draw = generator(seed);
  /** @type {Change[]} */
  const changes = [];
  let length = 0;
  for (let number = 0; number < count; number += 1) {
    const middle = draw(5) === 0;
    const deleted = length > 1500 || draw(6) === 0 ? Math.min(length, 1 + draw(3)) : 0;
    const position = middle ? draw(length - deleted + 1) : length - deleted;
    const inserted = deleted && draw(2) ? "" : "ab ";
    changes.push([number * 150, position, deleted, inserted, 0]);
    length += inserted.length - deleted;
  }
  return changes;
}

/** @param {Change[]} changes @returns {string[]} the text after so many of them, by cutting strings */
function texts(changes) {
  const all = [""];
  for (const [, position, deleted, inserted] of changes) {
    const text = /** @type {string} */ (all.at(-1));
    all.push(text.slice(0, position) + inserted + text.slice(position + deleted));
  }
  return all;
}

test("any moment of a random log has its text, in whichever order moments are shown", () => {
  const changes = randomChanges(3_000, 7);
  const expected = texts(changes);
  const film = new Film(changes);
  const draw = generator(3);
  for (let round = 0; round < 1_000; round += 1) {
    const index = draw(changes.length + 1);
    assert.equal(textOf(film.at(index)), expected[index]);
    assert.equal(film.lengths[index], expected[index].length);
  }
  assert.equal(film.textAt(-1), "");
  assert.equal(film.textAt(150 * 100 - 1), expected[100]);
  assert.equal(film.textAt(150 * 100), expected[101]);
  assert.equal(film.textAt(Infinity), expected.at(-1));
});

test("long logs are scrubbed at once", (t) => {
  const changes = randomChanges(20_000, 1);
  const begun = performance.now();
  const film = new Film(changes);
  const built = performance.now() - begun;
  const draw = generator(2);
  const times = [];
  for (let number = 0; number < 400; number += 1) {
    const at = performance.now();
    textOf(film.at(draw(20_001)));
    times.push(performance.now() - at);
  }
  times.sort((a, b) => a - b);
  t.diagnostic(JSON.stringify({ built, median: times[200], p95: times[380] }));
  assert.ok(built < 3_000);
  assert.ok(times[380] < 50);
});

test("showing a moment plays no more changes than lie between two key frames", () => {
  let read = 0;
  const changes = new Proxy(randomChanges(2_000, 1), {
    get: (list, name) => {
      if (/^\d+$/.test(String(name))) read += 1;
      return Reflect.get(list, name);
    },
  });
  const film = new Film(changes);
  const draw = generator(5);
  for (let round = 0; round < 200; round += 1) {
    read = 0;
    film.at(draw(2_001));
    assert.ok(read <= EVERY, `${read} changes were played`);
  }
});

test("what was deleted stays as a piece that is gone, before what took its place", () => {
  const film = new Film([[0, 0, 0, "one two", 0], [5_000, 0, 3, "three", 0], [9_000, 5, 4, "", 0]]);
  assert.deepEqual(film.at(2), [
    { text: "one", mark: -1, gone: 5_000 },
    { text: "three two", mark: -1, gone: -1 },
  ]);
  assert.deepEqual(film.at(3).filter((piece) => piece.gone > 5_000), [{ text: " two", mark: -1, gone: 9_000 }]);
});

test("deletions that follow each other within two seconds are one piece", () => {
  const typed = /** @type {Change} */ ([0, 0, 0, "abcd", 0]);
  const gone = (/** @type {number} */ wait) =>
    new Film([typed, [1_000, 3, 1, "", 0], [1_000 + wait, 2, 1, "", 0]]).at(3).filter((piece) => piece.gone >= 0);
  assert.deepEqual(gone(2_000), [{ text: "cd", mark: -1, gone: 3_000 }]);
  assert.deepEqual(gone(2_001).map((piece) => piece.text), ["c", "d"]);
});

test("what came at once is marked, also where it is cut in two", () => {
  const film = new Film([[0, 0, 0, "ab", 0], [1, 1, 0, "PASTE", 1], [2, 3, 0, "!", 0]], [{ change: 1, changes: 1 }]);
  assert.deepEqual(film.at(3).map(({ text, mark }) => [text, mark]), [["a", -1], ["PA", 0], ["!", -1], ["STE", 0], ["b", -1]]);
});

test("a log without changes is an empty text", () => {
  const film = new Film([]);
  assert.deepEqual(film.at(0), []);
  assert.equal(film.textAt(1_000), "");
});

test("the last row that is not later is found", () => {
  const rows = [0, 5, 5, 9];
  for (const [t, expected] of [[-1, 0], [0, 1], [4, 1], [5, 3], [8, 3], [9, 4], [10, 4]]) assert.equal(upTo(rows, t, (row) => row), expected);
  assert.equal(upTo([], 3, (row) => row), 0);
});
