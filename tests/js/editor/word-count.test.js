import assert from "node:assert/strict";
import { test } from "node:test";

import { byId } from "../page.js";

byId("words").dataset.target = "250";
const { lengthOf } = await import("../../../static/js/editor/word-count.js");

/** @type {[number, string][]} how many words there are of about 250, and what that is */
const LENGTHS = [
  [0, "empty"],
  [1, "short"],
  [199, "short"],
  [200, "right"],
  [300, "right"],
  [301, "long"],
];

for (const [count, length] of LENGTHS) {
  test(`${count} words of about 250 are ${length}`, () => {
    assert.deepEqual(lengthOf("word ".repeat(count)), { n: count, target: 250, length });
  });
}

test("citations are no words", () => {
  assert.equal(lengthOf("Five words and a citation [3]. ").n, 5);
  assert.equal(lengthOf(" [3, 7]\n").length, "empty");
});
