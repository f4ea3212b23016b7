import assert from "node:assert/strict";
import { test } from "node:test";

import { changedLines, keptSpans, pieces, spansByLine } from "../../../static/js/editor/marked-text.js";

/** @param {string} line @param {import("../../../static/js/editor/marked-text.js").Span[]} [shared] */
const marked = (line, shared) => pieces(line, 20, shared).filter(({ kind }) => kind).map(({ text, kind }) => [text, kind]);

test("citations are marked, and those of no passage otherwise", () => {
  assert.deepEqual(marked("The tide [3] turns [1, 25]. See [Winter] and [4"), [["[3]", "mark-citation"], ["[1, 25]", "mark-unknown"]]);
  assert.deepEqual(marked("Nothing is cited by [] or [ ; ]."), [["[]", "mark-unknown"], ["[ ; ]", "mark-unknown"]]);
  assert.deepEqual(marked("No bracket at all"), []);
  assert.deepEqual(pieces("", 20), []);
});

test("a citation in words that a passage has too is both", () => {
  assert.deepEqual(marked("one two [3] three", [[0, 11]]), [["one two ", "mark-shared"], ["[3]", "mark-citation mark-shared"]]);
});

test("the pieces give the line again", () => {
  for (const line of ["", "a", "[1]", "אב [2] 😀[3][4] end", "x [1]"]) {
    assert.equal(pieces(line, 3, line.length > 2 ? [[1, 2]] : []).map(({ text }) => text).join(""), line);
  }
});

test("only the lines are drawn again that changed", () => {
  assert.deepEqual(changedLines([], ["a"]), { start: 0, removed: 0, added: 1 });
  assert.deepEqual(changedLines(["a", "b", "c"], ["a", "x", "c"]), { start: 1, removed: 1, added: 1 });
  assert.deepEqual(changedLines(["a", "a"], ["a", "a", "a"]), { start: 2, removed: 0, added: 1 });
  assert.deepEqual(changedLines(["a", "b"], ["a", "b"]), { start: 2, removed: 0, added: 0 });
  assert.deepEqual(changedLines(["a", "b", "c"], ["c"]), { start: 0, removed: 2, added: 0 });
});

test("spans before a change of their line stay", () => {
  assert.deepEqual(keptSpans("one two three", "one two tree", [[0, 7], [8, 13]]), [[0, 7]]);
});

test("each line has its part of a range", () => {
  assert.deepEqual(spansByLine(["one two", "", "three"], [{ start: 4, end: 11 }]), [[[4, 7]], [], [[0, 2]]]);
  assert.deepEqual(spansByLine(["one", "two"], [{ start: 0, end: 2 }, { start: 5, end: 6 }]), [[[0, 2]], [[1, 2]]]);
});
