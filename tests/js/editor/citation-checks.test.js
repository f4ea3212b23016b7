import assert from "node:assert/strict";
import { test } from "node:test";

import { check } from "../../../static/js/editor/citation-checks.js";
import { PassageIndex } from "../../../static/js/editor/copied-text.js";

/**
 * @param {string} marked text, with "|" where the caret is, if it is anywhere
 * @param {import("../../../static/js/editor/copied-text.js").PassageIndex} [sources]
 * @returns {[string, string][]} what is found, and the part of the text that it is about
 */
function found(marked, sources) {
  const caret = marked.indexOf("|");
  const text = marked.replace("|", "");
  return check(text, 20, caret, sources).map(({ kind, start, end }) => [kind, text.slice(start, end)]);
}

/** @type {[string, [string, string][]][]} a text, and what is found in it */
const TEXTS = [
  ["", []],
  ["The tide follows the moon everywhere [0].", []],
  ["A far harbour sees more of it [25].", [["missing", "[25]"]]],
  ["A far harbour sees more of it [3, 20-22].", [["missing", "[3, 20-22]"]]],
  ["Some brackets here are empty [] [3].", [["empty", "[]"]]],
  ["Some brackets here are empty [ ; ] [3].", [["empty", "[ ; ]"]]],
  ["Some brackets here are empty [|] [3].", []],
  ["The bracket here is open [4 and goes on [3].", [["unclosed", "[4 "]]],
  ["The bracket here is open [4|", []],
  ["See [Winter, 1997] for all of that [3].", []],
  ["Nothing at all is cited in this line.", [["uncited", "Nothing at all is cited in this line."]]],
  ["A sentence that is not yet at its|", []],
  [`A sentence that is ${"very ".repeat(12)}long and not yet at its|`, []],
  [`A sentence that is ${"very ".repeat(12)}long|\n`, []],
  ["A sentence that is now at its end.|", [["uncited", "A sentence that is now at its end."]]],
  ["A heading of no more than a few words", []],
  ["These are the reasons why tides differ:", []],
  ["Too few words.", []],
  ["- a point in a list of points", [["uncited", "- a point in a list of points"]]],
  ["All is cited here [1]. And this comes after it.", [["uncited", "And this comes after it."]]],
  ["潮は月に従って動きます。", [["uncited", "潮は月に従って動きます。"]]],
  ["One line is not cited here.\nThe next one is cited [2].", [["uncited", "One line is not cited here."]]],
];

for (const [text, expected] of TEXTS) {
  test(`what is found in ${JSON.stringify(text)}`, () => assert.deepEqual(found(text), expected));
}

test("a long sentence without an end is complained of once the caret has gone elsewhere", () => {
  const sentence = `A sentence that is ${"very ".repeat(12)}long and not yet at its`;
  assert.deepEqual(found(`${sentence}\n|`), [["uncited", sentence]]);
});

test("what is said with a citation elsewhere is found, with the citation", () => {
  const text = "The tide follows the moon everywhere [0]. More is said here [1].\n\nthe tide follows the moon, everywhere!";
  const [finding, ...others] = check(text, 20);
  assert.deepEqual(others, []);
  const { kind, wrong, start, other, cited } = finding;
  assert.deepEqual([kind, wrong, text.slice(start), other, cited], ["elsewhere", false, "the tide follows the moon, everywhere!", 0, "[0]"]);
});

test("sentences that share four fifths of their words say the same", () => {
  const cited = "One two three four five six seven eight nine ten [0].\n";
  assert.deepEqual(found(`${cited}One two three four five six seven eight nine other.`), [
    ["elsewhere", "One two three four five six seven eight nine other."],
  ]);
  assert.deepEqual(found(`${cited}One two three four five six seven eight some other.`), [
    ["uncited", "One two three four five six seven eight some other."],
  ]);
});

test("a copied passage is found with its rank, though it is cited", () => {
  const passage = "Two waves meet where the channel narrows and the range of the tide falls to almost nothing for a good part of each day";
  const sources = new PassageIndex(20);
  for (const text of ["Something else.", passage]) sources.add(text);
  const findings = check(`${passage} [1].`, 20, -1, sources);
  assert.deepEqual(findings.map(({ kind, rank, about }) => [kind, rank, about]), [["copied", 1, passage]]);
});

test("findings come in the order of the text", () => {
  const text =
    "The tide follows the moon everywhere [0]. A far harbour sees more of it [25]. Some brackets are empty []. " +
    "The bracket here is open [4 and goes on.\n\nThe tide follows the moon everywhere. More is said [1].\n\n" +
    "Nothing at all is cited in this line.\n\nA heading";
  assert.deepEqual(found(text).map(([kind]) => kind), ["missing", "empty", "unclosed", "elsewhere", "uncited"]);
});

test("a long text whose sentences are all cited has nothing to find", () => {
  const sentences = Array.from({ length: 2_000 }, (_, number) => `Sentence ${number} says something about the moon [${number % 20}].`);
  assert.deepEqual(check(sentences.join(" "), 20), []);
});
