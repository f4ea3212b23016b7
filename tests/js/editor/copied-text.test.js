import assert from "node:assert/strict";
import { test } from "node:test";

import { PassageIndex } from "../../../static/js/editor/copied-text.js";
import { generator } from "../random.js";

const LONG = Array.from({ length: 40 }, (_, number) => `word${number}`);

/** @param {string[]} passages @param {number} [run] */
function index(passages, run = 20) {
  const made = new PassageIndex(run);
  for (const passage of passages) made.add(passage);
  return made;
}

test("as many words in a row as the study says are found, one fewer is not", () => {
  const own = "Before this stand words of my own. ";
  for (const run of [4, 20]) {
    const passages = index(["Another text.", LONG.join(" ")], run);
    assert.deepEqual(passages.find(own + LONG.slice(5, 4 + run).join(" ")), []);
    const copied = own + LONG.slice(5, 5 + run).join(", ").toUpperCase();
    assert.deepEqual(passages.find(`${copied} and more`), [{ start: own.length, end: copied.length, rank: 1, words: run }]);
  }
});

test("a copy goes on as long as it goes, and two apart are two", () => {
  const all = LONG.join(" ");
  const passages = index([all]);
  assert.deepEqual(passages.find(all), [{ start: 0, end: all.length, rank: 0, words: 40 }]);
  const twice = `${all} and then ${all}`;
  assert.deepEqual(passages.find(twice).map(({ start, end, words }) => [twice.slice(start, end), words]), [[all, 40], [all, 40]]);
});

test("a citation in the middle of a copy does not hide it", () => {
  const passages = index([LONG.join(" ")]);
  const text = `${LONG.slice(0, 10).join(" ")} [3, 7] ${LONG.slice(10, 20).join(" ")}.`;
  assert.deepEqual(passages.find(text), [{ start: 0, end: text.length - 1, rank: 0, words: 20 }]);
});

test("the first passage that has the words is named", () => {
  assert.deepEqual(index([LONG.slice(0, 30).join(" "), LONG.join(" ")]).find(LONG.join(" ")).map(({ rank }) => rank), [0]);
  assert.deepEqual(index([]).find(LONG.join(" ")), []);
});

test("what is found are the runs that a comparison word by word finds", () => {
  const below = generator(7);
  /** @param {number} length */
  const words = (length) => Array.from({ length }, () => `w${below(3)}`);
  for (let trial = 0; trial < 200; trial += 1) {
    const run = 2 + below(4);
    const passages = [words(12), words(12)];
    const text = words(30);
    /** @param {number} at */
    const isCopied = (at) => at >= 0 && at + run <= text.length && passages.some((passage) => ` ${passage.join(" ")} `.includes(` ${text.slice(at, at + run).join(" ")} `));
    const expected = text.map((_, place) => Array.from({ length: run }, (_, back) => place - back).some(isCopied));
    const found = index(passages.map((each) => each.join(" ")), run).find(text.join(" "));
    assert.deepEqual(text.map((_, place) => found.some(({ start, end }) => start <= 3 * place && 3 * place < end)), expected);
  }
});
