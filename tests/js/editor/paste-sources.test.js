import assert from "node:assert/strict";
import { test } from "node:test";

import { share, tokens, words } from "../../../static/js/editor/log/paste-sources.js";

const PASSAGE = "The quick brown fox jumps over the lazy dog near the river bank.";

test("words are the same whatever their case, blanks and punctuation", () => {
  assert.deepEqual(words(" The QUICK,\nbrown—fox!  "), ["the", "quick", "brown", "fox"]);
  assert.deepEqual(words("ﬁn Žluť 日本 x2"), ["fin", "žluť", "日", "本", "x2"]);
  assert.deepEqual(words("…—!"), []);
});

test("tokens say where each word stands", () => {
  const text = "😀 Žluť kůň.";
  assert.deepEqual(tokens(text).map(({ word, start, end }) => [word, text.slice(start, end)]), [["žluť", "Žluť"], ["kůň", "kůň"]]);
});

/** @type {[string, string, number][]} a text, another one, and the share of the first that stands in the second */
const SHARES = [
  ["the QUICK  brown\nfox jumps over the lazy dog", PASSAGE, 100],
  ["He said: the quick brown fox jumps over the lazy dog indeed", PASSAGE, 75],
  ["words that stand nowhere on this page at all", PASSAGE, 0],
  ["my own words which I wrote here before", "These are my own words, which I wrote here before. ", 100],
  ["the lazy fox over the brown bank", PASSAGE, 0],
  ["lazy dog", PASSAGE, 100],
  ["", PASSAGE, 0],
  ["…", PASSAGE, 0],
  ["the quick", "", 0],
];

for (const [text, other, percent] of SHARES) {
  test(`the share of ${JSON.stringify(text)} is ${percent} %`, () => assert.equal(share(words(text), words(other)), percent));
}
