import assert from "node:assert/strict";
import { test } from "node:test";

import { sum } from "../../../static/js/replay/moments-list.js";
import { arrivalName, changed, clock, lasting, momentsOf, placeName } from "../../../static/js/replay/moments.js";

/** @typedef {import("../../../static/js/replay/moments.js").Log} Log */

/** @param {object} [fields] @returns {Log} a log in which nothing happens, but for these fields */
function log(fields = {}) {
  const lists = ["sources", "changes", "carets", "arrivals", "keys", "open", "view", "hidden", "unfocused", "searches"];
  lists.push("citations", "copies", "clock", "sessions", "gaps", "branches");
  const empty = Object.fromEntries(lists.map((name) => [name, []]));
  const rest = { source: "recorded", has_keys: true, end: 0, span: 0, length: 0, revises: false, start: null, set_back: 0 };
  return /** @type {any} */ ({ ...empty, ...rest, ...fields });
}

/** @param {object} [fields] @returns {import("../../../static/js/replay/moments.js").Arrival} */
const arrival = (fields = {}) => ({ t: 0, change: 0, changes: 1, how: "pasted", length: 100, place: -2, share: 0, survived: 50, ...fields });

/** @type {[number, string, string][]} milliseconds, on a clock, and in words */
const TIMES = [
  [0, "0:00", "0 s"],
  [499, "0:00", "0 s"],
  [500, "0:01", "1 s"],
  [59_499, "0:59", "59 s"],
  [59_500, "1:00", "1 min 0 s"],
  [421_600, "7:02", "7 min 2 s"],
  [723_000, "12:03", "12 min 3 s"],
  [3_599_499, "59:59", "59 min 59 s"],
  [3_599_500, "1:00:00", "1 h 0 min"],
  [11_232_000, "3:07:12", "3 h 7 min"],
  [90_000_000, "25:00:00", "25 h 0 min"],
];

for (const [milliseconds, onClock, inWords] of TIMES) {
  test(`${milliseconds} ms are ${onClock}`, () => assert.deepEqual([clock(milliseconds), lasting(milliseconds)], [onClock, inWords]));
}

test("a clock shows no time before the beginning", () => assert.equal(clock(-5_000), "0:00"));

test("arrivals are named by how they came and where they are from", () => {
  assert.deepEqual([-2, -1, 0, 7].map(placeName), ["elsewhere", "own text", "passage 0", "passage 7"]);
  assert.equal(arrivalName(arrival()), "Paste of 100 characters, not found in any passage");
  assert.equal(arrivalName(arrival({ how: "dropped", place: 3, share: 1 })), "Drop of 100 characters, from passage 3");
  assert.equal(arrivalName(arrival({ how: "external", place: -1, share: 0.5 })), "Text inserted by a program of 100 characters, from own text (50 % of its words)");
  assert.match(arrivalName(arrival({ how: "unheard of", place: 0, share: 0.996 })), / 100 .* passage 0$/);
});

test("a change that changes nothing is none", () => {
  assert.deepEqual(changed(log({ changes: [[1, 0, 0, "a", 0], [2, 0, 0, "", 0], [3, 0, 1, "", 0]] })), [1, 3]);
});

test("an empty log has no moments", () => assert.deepEqual(momentsOf(log()), []));

test("moments come in order of time", () => {
  const moments = momentsOf(
    log({
      end: 30_000,
      changes: [[1_000, 0, 0, "x".repeat(100), 0], [2_000, 0, 10, "", 0], [3_000, 0, 5, "", 0], [25_000, 0, 0, "y", 0]],
      arrivals: [arrival({ t: 1_000 })],
      hidden: [[500, 900]],
    }),
  );
  assert.deepEqual(moments.map(({ kind, t, to, label }) => [kind, t, to, label]), [
    ["away", 500, 900, "Another tab or window in front for 0 s"],
    ["arrival", 1_000, 1_000, "Paste of 100 characters, not found in any passage, 50 % of it in the final text"],
    ["deletion", 2_000, 3_000, "15 characters deleted"],
    ["pause", 3_000, 25_000, "Pause of 22 s"],
  ]);
});

test("only deletions of fifteen characters within two seconds of each other stand out", () => {
  const kinds = (/** @type {import("../../../static/js/replay/text-timeline.js").Change[]} */ changes) => momentsOf(log({ changes })).map(({ kind }) => kind);
  assert.deepEqual(kinds([[0, 0, 0, "x".repeat(99), 0], [1, 0, 14, "", 0]]), []);
  assert.deepEqual(kinds([[0, 0, 0, "x".repeat(99), 0], [1, 0, 10, "", 0], [2_002, 0, 10, "", 0]]), []);
  assert.deepEqual(kinds([[0, 0, 0, "x".repeat(99), 0], [1, 0, 10, "", 0], [2_001, 0, 10, "", 0]]), ["deletion"]);
  assert.deepEqual(kinds([[0, 0, 0, "x".repeat(99), 0], [1, 0, 20, "put in its place", 0]]), []);
});

test("a pause in which the editor was closed says so", () => {
  const moments = momentsOf(log({ end: 60_000, changes: [[0, 0, 0, "a", 0], [60_000, 0, 0, "b", 0]], gaps: [[30_000, 0, 3_600_000, 0]] }));
  assert.deepEqual(moments.map(({ kind, label }) => [kind, label]), [["pause", "Editor closed for 1 h 0 min"]]);
});

test("a text that was there before is where a log starts, and no arrival", () => {
  const start = { length: 200, survived: 150 };
  const label = (/** @type {boolean} */ revises) => momentsOf(log({ start, revises }))[0].label;
  assert.equal(label(true), "200 characters from the version before the revision, 75 % of them in the final text");
  assert.equal(label(false), "200 characters from an earlier text, 75 % of them in the final text");
});

test("the sums of a log are said in short sentences", () => {
  assert.match(
    sum(log({ span: 90_000, length: 200, arrivals: [arrival({ place: 3, survived: 50 }), arrival({ survived: 20 }), arrival({ place: -1, survived: 99 })] })),
    /^1 min 30 s .*\. .* 25 % .* 10 % .*\.$/,
  );
  const more = sum(log({ length: 0, has_keys: false, set_back: 2, sessions: [[0, "", null], [1, "", null]], start: { length: 1, survived: 0 } }));
  assert.match(more, /\. 2 sessions\. 0 % of the final text comes from an earlier text\. /);
  assert.match(more, /\. The writer's clock was set back 2 times\. Snapshots of the text only: /);
  assert.match(sum(log({ set_back: 1 })), /set back once/);
});
