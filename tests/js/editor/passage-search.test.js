import assert from "node:assert/strict";
import { test } from "node:test";

import "../page.js";

const { spans, terms } = await import("../../../static/js/editor/passage-search.js");

/** @param {string} text @param {string} typed @returns {string[]} the parts of a text that are marked */
const marked = (text, typed) => spans(text, terms(typed)).map(([start, end]) => text.slice(start, end));

const TEXT = "The tide follows the moon. Tides differ (by 3.5 m) from harbour to harbour.";

/** @type {[string, string[]][]} what is typed, and what is marked */
const SEARCHES = [
  ["", []],
  ["tide", ["tide", "Tide"]],
  ["TIDE moon", ["tide", "moon", "Tide"]],
  ["tide mars", []],
  ['"the moon"', ["the moon"]],
  ['"moon the"', []],
  ['"the moon', ["the moon"]],
  ['"the   moon" differ', ["the moon", "differ"]],
  ["the tides", ["The", "the", "Tides"]],
  ["tide tides", ["tide", "Tides"]],
  ["3.5", ["3.5"]],
  ["3?5", []],
  ["(by", ["(by"]],
  [".*", []],
  ['""', []],
];

for (const [typed, expected] of SEARCHES) test(`searching for ${JSON.stringify(typed)}`, () => assert.deepEqual(marked(TEXT, typed), expected));

test("a phrase is found across a line break", () => assert.deepEqual(marked("one\n  two", '"one two"'), ["one\n  two"]));

test("every sign that means something to a pattern is taken as it stands", () => {
  for (const sign of "\\^$.*+?()[]{}|/-#&") assert.deepEqual(marked(`a${sign}b`, `a${sign}b`), [`a${sign}b`], sign);
});

test("characters beyond the first plane are found whole", () => assert.deepEqual(marked("a😀b😁c", "😁"), ["😁"]));

test("the case of letters of other scripts counts as little", () => assert.deepEqual(marked("ŽLUŤ Ωmega", "žluť ω"), ["ŽLUŤ", "Ω"]));

test("no word is marked more than five hundred times", () => assert.equal(marked("a ".repeat(2_000), "a").length, 500));
