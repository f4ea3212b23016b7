import assert from "node:assert/strict";
import { test } from "node:test";

import "../page.js";

const { Question } = await import("../../../static/js/judging/questions.js");

/** @param {{data?: Record<string, string>, chosen?: string, why?: string | null}} [options] @returns {any} a fieldset with three options */
function fieldset({ data = {}, chosen, why = null } = {}) {
  const options = ["1", "2", "3"].map((value) => ({ value, checked: value === chosen }));
  const field = why === null ? null : { value: why };
  return {
    dataset: { dimension: "2", ...data },
    options,
    querySelectorAll: () => options,
    querySelector: (/** @type {string} */ name) => (name === "textarea" ? field : null),
  };
}

test("a question is known by its item and dimension, a check by its own number", () => {
  assert.equal(new Question(fieldset(), 4, 1).key, "4-2");
  assert.equal(new Question(fieldset({ data: { check: "7" } }), 4, 1).key, "c7");
});

test("what the server had is what the page came with", () => {
  assert.deepEqual(new Question(fieldset(), 4, 1).stored, { value: null, why: "", revision: 0 });
  const answered = new Question(fieldset({ data: { revision: "3" }, chosen: "2", why: "so" }), 4, 1);
  assert.deepEqual(answered.stored, { value: 2, why: "so", revision: 3 });
});

/** @type {[string, object, boolean][]} */
const COMPLETE = [
  ["without an answer", {}, false],
  ["with an answer", { chosen: "1" }, true],
  ["with an answer and an empty field for why", { chosen: "1", why: "" }, true],
  ["that asks why, with an answer alone", { data: { asksWhy: "" }, chosen: "1", why: " \n" }, false],
  ["that asks why, with the reason alone", { data: { asksWhy: "" }, why: "because" }, false],
  ["that asks why, with both", { data: { asksWhy: "" }, chosen: "1", why: "because" }, true],
];

for (const [name, options, complete] of COMPLETE) {
  test(`a question ${name} is ${complete ? "complete" : "open"}`, () => assert.equal(new Question(fieldset(options), 4, 1).isComplete, complete));
}

test("an answer is shown, and blanks around a reason that is being written stay", () => {
  const question = new Question(fieldset({ chosen: "1", why: "because " }), 4, 1);
  question.show({ value: 3, why: "because" });
  assert.deepEqual(question.given(), { value: 3, why: "because " });
  question.show({ value: null, why: "otherwise" });
  assert.deepEqual(question.given(), { value: null, why: "otherwise" });
});
