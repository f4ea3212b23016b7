import assert from "node:assert/strict";
import { test } from "node:test";

import { copies, index } from "../../../static/js/editor/copied-text.js";
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

const LONG = Array.from({ length: 40 }, (_, number) => `word${number}`);

test("twenty words in a row are a copy, nineteen are none", () => {
  const ranks = index(["Another text.", LONG.join(" ")]);
  const own = "Before this stand words of my own. ";
  const nineteen = own + LONG.slice(5, 24).join(" ");
  assert.deepEqual(copies(nineteen, ranks), []);
  const twenty = own + LONG.slice(5, 25).join(", ").toUpperCase();
  assert.deepEqual(copies(`${twenty} and more`, ranks), [{ start: own.length, end: twenty.length, rank: 1 }]);
});

test("a copy goes on as long as it goes, and two apart are two", () => {
  const all = LONG.join(" ");
  const ranks = index([all]);
  assert.deepEqual(copies(all, ranks), [{ start: 0, end: all.length, rank: 0 }]);
  const twice = `${all} and then ${all}`;
  assert.deepEqual(copies(twice, ranks).map(({ start, end }) => twice.slice(start, end)), [all, all]);
});

test("the first passage that has the words is named", () => {
  assert.deepEqual(copies(LONG.join(" "), index([LONG.slice(0, 30).join(" "), LONG.join(" ")])).map(({ rank }) => rank), [0]);
  assert.deepEqual(copies(LONG.join(" "), new Map()), []);
});
