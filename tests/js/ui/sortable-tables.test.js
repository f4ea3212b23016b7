import assert from "node:assert/strict";
import { test } from "node:test";

import { compare, parseNumber } from "../../../static/js/ui/sortable-tables.js";

/** @type {[string, number | null][]} text of a cell, and the number in it */
const NUMBERS = [
  ["0", 0],
  [" 1,234.5 ", 1234.5],
  ["\u22120.12", -0.12],
  ["-3", -3],
  ["+3", 3],
  [".5", 0.5],
  ["p = .031", 0.031],
  ["approx. 7", 7],
  ["-.5", -0.5],
  ["1e-3", 0.001],
  ["1E6", 1_000_000],
  ["USD 12.50 per hour", 12.5],
  ["45 %", 45],
  ["0.61 [0.55, 0.67]", 0.61],
  ["\u2013", null],
  ["", null],
  ["none", null],
];

for (const [text, number] of NUMBERS) test(`the number in ${JSON.stringify(text)} is ${number}`, () => assert.equal(parseNumber(text), number));

/** @param {(string | number | null)[]} keys @param {number} sign */
const sorted = (keys, sign) => [...keys].sort((a, b) => compare(a, b, sign));

test("numbers sort by value, and what has none stays last either way", () => {
  assert.deepEqual(sorted([3, null, -1, 20], 1), [-1, 3, 20, null]);
  assert.deepEqual(sorted([3, null, -1, 20], -1), [20, 3, -1, null]);
  assert.deepEqual(sorted([null, null], 1), [null, null]);
});

test("names sort as readers expect: whatever the case, numbers in them by value", () => {
  assert.deepEqual(sorted(["run 10", "Run 2", "run 1"], 1), ["run 1", "Run 2", "run 10"]);
  assert.deepEqual(sorted(["b", null, "A", "ä"], -1), ["b", "A", "ä", null]);
  assert.equal(compare("STUDY", "study", 1), 0);
});
