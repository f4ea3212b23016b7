import assert from "node:assert/strict";
import { test } from "node:test";

import { Times } from "../../../static/js/judging/viewing-times.js";

const DUE = 15_000;
const ONE_CHANGE = { item: 4, active: 0, away: 0, looks: 0, leaves: 0, changes: 1 };

/** @returns {Times} a page on which an answer was changed */
function opened() {
  const times = new Times("/time/", () => {});
  times.changed(4);
  return times;
}

test("a report goes along with an answer once it is due, and only with one", () => {
  const times = opened();
  assert.equal(times.take(), null);
  times.toldAt -= DUE;
  assert.deepEqual(times.take(), { visit: times.visit, times: [ONE_CHANGE] });
  times.toldAt -= DUE;
  assert.equal(times.take(), null);
});

test("a report that was not acknowledged is told again", () => {
  const times = opened();
  times.toldAt -= DUE;
  const report = times.take();
  assert.ok(report);
  times.arrived(report, { status: 0, body: {} });
  times.toldAt -= DUE;
  assert.deepEqual(times.take(), report);
});

test("nothing more is told once the server takes no times any more", () => {
  const times = opened();
  times.toldAt -= DUE;
  const report = times.take();
  assert.ok(report);
  times.arrived(report, { status: 200, body: { saved: true, times: { problem: "closed" } } });
  times.changed(4);
  times.toldAt -= DUE;
  assert.equal(times.take(), null);
});
