import assert from "node:assert/strict";
import { test } from "node:test";

import { Clock } from "../../../static/js/editor/log/clock.js";
import { Backoff, Wake } from "../../../static/js/editor/log/sleep.js";

test("waits double up to half a minute, and differ", () => {
  const backoff = new Backoff();
  for (const most of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    const wait = backoff.next();
    assert.ok(wait >= most / 2 && wait <= most, `${wait} of ${most}`);
  }
  backoff.reset();
  assert.ok(backoff.next() <= 500);
});

test("a sleeper wakes when its time is over, or when it is woken", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const wake = new Wake();
  /** @type {string[]} */
  const awake = [];
  const sleeps = [wake.sleep(1_000).then(() => awake.push("short")), wake.sleep().then(() => awake.push("long"))];
  t.mock.timers.tick(1_000);
  await sleeps[0];
  assert.deepEqual(awake, ["short"]);
  wake.wake();
  await sleeps[1];
  assert.deepEqual(awake, ["short", "long"]);
  assert.equal(wake.sleepers.size, 0);
});

/** @param {import("node:test").TestContext} t both clocks, set by hand */
function clocks(t) {
  const at = { wall: 1_000_000, steady: 500 };
  t.mock.method(Date, "now", () => at.wall);
  t.mock.method(performance, "now", () => at.steady);
  return at;
}

test("the log's time counts from what the server said, and never goes back", (t) => {
  const at = clocks(t);
  const clock = new Clock(7_000);
  assert.equal(clock.now(), 7_000);
  at.steady += 250.4;
  assert.equal(clock.now(), 7_250);
  at.steady -= 100;
  at.wall -= 86_400_000;
  assert.equal(clock.now(), 7_250);
});

test("a wall clock that is set is told once, in both directions", (t) => {
  const at = clocks(t);
  const clock = new Clock(0);
  at.wall += 250;
  assert.equal(clock.jumped(), 0, "little is told as nothing");
  at.wall += 3_600_000 - 250;
  assert.equal(clock.jumped(), 3_600_000);
  assert.equal(clock.jumped(), 0);
  at.wall -= 7_200_000;
  assert.equal(clock.jumped(), -7_200_000);
  at.wall += 5_000;
  at.steady += 5_000;
  assert.equal(clock.jumped(), 0, "time that passes is no move");
});
