import assert from "node:assert/strict";
import { test } from "node:test";

import { Events } from "../../../static/js/editor/log/events.js";

/** @param {number} position @param {string} inserted @param {number} [deleted] @returns {import("../../../static/js/editor/log/event-store.js").LogEvent} */
const splice = (position, inserted, deleted = 0) => ["s", 0, position, deleted, inserted, "typed", ""];

/** @param {number} first @param {import("../../../static/js/editor/log/event-store.js").LogEvent[]} list */
function log(first, list) {
  const events = new Events(first);
  for (const event of list) events.push(event);
  return events;
}

test("events keep their numbers when those before them are acknowledged", () => {
  const events = log(10, [splice(0, "a"), splice(1, "b"), splice(2, "c")]);
  assert.equal(events.end, 13);
  events.drop(12);
  assert.deepEqual([events.first, events.end, events.list.length, events.sizes.length], [12, 13, 1, 1]);
  events.drop(11);
  assert.equal(events.first, 12, "an acknowledgement that comes late changes nothing");
  events.drop(99);
  assert.deepEqual([events.first, events.end], [13, 13]);
});

test("chunks are merged: known and acknowledged events are passed over, gaps are not", () => {
  const events = log(10, [splice(0, "a"), splice(1, "b")]);
  assert.equal(events.join({ first: 13, events: [splice(3, "d")] }), false);
  assert.equal(events.end, 12);
  assert.equal(events.join({ first: 9, events: [splice(0, "x"), splice(0, "a")] }), true);
  assert.equal(events.end, 12);
  assert.equal(events.join({ first: 11, events: [splice(1, "b"), splice(2, "c")] }), true);
  assert.equal(events.join({ first: 13, events: [splice(3, "d")] }), true);
  assert.deepEqual(events.list.map((event) => event[4]), ["a", "b", "c", "d"]);
});

test("the text is rebuilt from splices alone, from any event on, in code points", () => {
  const events = log(5, [splice(1, "😀"), ["c", 1, 0, 0], splice(2, "!"), splice(0, "", 1)]);
  assert.equal(events.text("ab", 0), "😀!b");
  assert.equal(events.text("a😀b", 6), "😀!b");
  assert.equal(events.text("done", 9), "done");
});

test("a batch holds what fits, and at least one event", () => {
  const events = log(0, [splice(0, "x".repeat(1000)), splice(0, "é".repeat(1000)), splice(0, "y")]);
  assert.equal(events.fitting(0, 10), 1);
  assert.equal(events.fitting(0, 1_500), 1);
  assert.equal(events.fitting(0, 3_000), 1, "bytes count, not characters");
  assert.equal(events.fitting(0, 3_260), 2);
  assert.equal(events.fitting(0, 10_000), 3);
  assert.equal(events.fitting(2, 10_000), 1);
  assert.equal(events.fitting(3, 10_000), 0);
});

test("a batch holds a thousand events at most", () => {
  const events = log(3, Array.from({ length: 1_500 }, () => ["f", 0, 1]));
  assert.equal(events.fitting(3, Infinity), 1_000);
  assert.equal(events.fitting(1_003, Infinity), 500);
  assert.equal(events.slice(3, 2).length, 2);
});
