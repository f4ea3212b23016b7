import assert from "node:assert/strict";
import { test } from "node:test";

import { Outbox } from "../../../static/js/judging/outbox.js";

/** What the browser keeps, and what another tab tells of. */
class Storage {
  /** @type {Record<string, any>} */
  rows = {};
  holds = true;
  /** @type {(name: string, value: any) => void} */
  tell = () => {};

  /** @param {string} name */
  read(name) {
    return this.rows[name] ?? null;
  }

  /** @param {string} name @param {any} value */
  keep(name, value) {
    this.rows[name] = structuredClone(value);
  }

  /** @param {(name: string, value: any) => void} changed */
  watch(changed) {
    this.tell = changed;
  }
}

const ANSWERS = ["1", "2", "3"].map((value) => ({ value }));

/**
 * @param {{stored?: object, kept?: object}} [options] what the server had when it made the page, and what the browser keeps
 * @returns {{outbox: Outbox, storage: Storage, line: () => number[][]}} `line`: values and revisions on their way
 */
function opened({ stored = { value: null, why: "", revision: 0 }, kept } = {}) {
  const storage = new Storage();
  if (kept) storage.rows["4-1"] = kept;
  const question = { key: "4-1", item: 4, dimension: 1, check: 0, options: ANSWERS, stored };
  const outbox = new Outbox(/** @type {any} */ ([question]), { answer: "/answer/", check: "/check/" }, /** @type {any} */ (storage));
  return { outbox, storage, line: () => storage.rows["4-1"].line.map((/** @type {any} */ entry) => [entry.value, entry.revision]) };
}

test("an answer is kept at once and not called saved", () => {
  const { outbox, line } = opened();
  assert.equal(outbox.state.phase, "saved");
  assert.equal(outbox.give("4-1", 2, ""), true);
  assert.deepEqual(line(), [[2, 1]]);
  assert.deepEqual([outbox.state.phase, outbox.state.waiting], ["saving", 1]);
});

test("the same answer again is no answer, nor is one to a question that is not there", () => {
  const { outbox, line } = opened({ stored: { value: 3, why: "as said", revision: 5 } });
  assert.equal(outbox.give("4-1", 3, " as said "), false);
  assert.equal(outbox.give("9-9", 1, ""), false);
  assert.equal(outbox.state.phase, "saved");
  assert.equal(outbox.give("4-1", 3, "otherwise"), true);
  assert.deepEqual(line(), [[3, 6]]);
});

test("the latest wish takes the place of one that was not sent, and stands behind one that was", () => {
  const { outbox, line } = opened({ kept: { known: { value: null, why: "", revision: 2 }, line: [{ value: 1, why: "", revision: 3, sent: true }] } });
  assert.equal(outbox.wish("4-1").value, 1);
  outbox.give("4-1", 2, "");
  outbox.give("4-1", 3, "");
  assert.deepEqual(line(), [[1, 3], [3, 4]]);
  assert.equal(outbox.wish("4-1").value, 3);
});

test("what an earlier page had not got acknowledged is shown and sent", () => {
  const { outbox } = opened({ kept: { known: { value: 1, why: "", revision: 4 }, line: [{ value: 2, why: "", revision: 5 }] } });
  assert.deepEqual([outbox.wish("4-1").value, outbox.state.phase], [2, "saving"]);
});

test("what the server has already is not sent again, though nobody was told", () => {
  const kept = { known: { value: null, why: "", revision: 0 }, line: [{ value: 2, why: "", revision: 1, sent: true }] };
  const { outbox } = opened({ stored: { value: 2, why: "", revision: 1 }, kept });
  assert.deepEqual([outbox.wish("4-1").value, outbox.state.phase], [2, "saved"]);
});

test("an answer that the question no longer offers is dropped, and so is what cannot be read", () => {
  const known = { value: null, why: "", revision: 0 };
  for (const kept of [{ known, line: [{ value: 9, why: "", revision: 1 }] }, { known, line: "none" }, { line: [] }]) {
    assert.deepEqual(opened({ kept }).outbox.state.waiting, 0);
  }
});

test("another tab's answer is taken over, and its acknowledgement ends the waiting here", () => {
  const { outbox, storage } = opened();
  const known = { value: null, why: "", revision: 0 };
  storage.tell("4-1", { known, line: [{ value: 2, why: "", revision: 1 }] });
  assert.deepEqual([outbox.wish("4-1").value, outbox.state.phase], [2, "saving"]);
  storage.tell("4-1", { known: { value: 2, why: "", revision: 1 }, line: [] });
  assert.deepEqual([outbox.wish("4-1").value, outbox.state.phase, outbox.state.waiting], [2, "saved", 0]);
});

test("what is newer here outlasts another tab's acknowledgement", () => {
  const { outbox, storage } = opened({ kept: { known: { value: null, why: "", revision: 0 }, line: [{ value: 1, why: "", revision: 1, sent: true }] } });
  outbox.give("4-1", 3, "");
  storage.tell("4-1", { known: { value: 1, why: "", revision: 1 }, line: [] });
  assert.deepEqual([outbox.wish("4-1").value, outbox.state.phase], [3, "saving"]);
});

test("what another tab says of other questions, or nothing that can be read, changes nothing", () => {
  const { outbox, storage } = opened({ stored: { value: 1, why: "", revision: 1 } });
  for (const said of [null, {}, { line: [] }, { known: {}, line: null }]) storage.tell("4-1", said);
  storage.tell("8-8", { known: { value: 3, why: "", revision: 9 }, line: [] });
  assert.deepEqual([outbox.wish("4-1").value, outbox.state.phase], [1, "saved"]);
});
