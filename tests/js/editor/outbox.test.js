import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.window ??= globalThis;
globalThis.document ??= { visibilityState: "visible" };
const { Outbox } = await import("../../../static/js/editor/log/outbox.js");

/** A store that keeps nothing. */
const store = { problem: "", keep: async () => true, drop: async () => {} };
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

test("what waits is as old as the oldest event that is not acknowledged, however long somebody types", async () => {
  const row = { home: "", session: 1, token: "", log: "", acked: 0, batch: 0, frames: [] };
  const outbox = new Outbox(store, row, () => {});
  outbox.add(["i", 1, "a"]);
  const began = outbox.waitingSince;
  outbox.post = async (frame) => {
    await pause(30);
    outbox.add(["i", 2, "b"]); // typed while the batch is under way
    return { status: 200, body: { acked: frame.number, next_event: 1 }, after: 0, elsewhere: false };
  };
  await pause(30);
  await outbox.send();
  assert.equal(outbox.unacked, 1);
  assert.ok(outbox.waitingSince >= began + 25, "it counts from the batch on, not from the first event");
  clearTimeout(outbox.keepTimer);
});
