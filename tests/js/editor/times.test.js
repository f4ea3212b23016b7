import assert from "node:assert/strict";
import { test } from "node:test";

process.env.TZ = "Asia/Kolkata";
const { start } = await import("../../../static/js/editor/times.js");

/** @param {import("node:test").TestContext} t @param {string} datetime @returns {{textContent: string, title: string}} how a time is shown on 24 Nov 2026 */
function shown(t, datetime) {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-24T12:00:00Z") });
  const element = {
    textContent: "as the server wrote it",
    title: "",
    getAttribute: () => datetime,
    setAttribute: (/** @type {string} */ _name, /** @type {string} */ title) => (element.title = title),
  };
  Object.assign(globalThis, { document: { querySelectorAll: () => [element] } });
  start();
  return element;
}

test("a time of today is shown without its date, in the reader's zone", (t) => {
  const { textContent, title } = shown(t, "2026-11-24T16:52:00Z");
  assert.match(textContent, /^10:22\sPM$|^22:22$/);
  assert.match(title, /2026/);
});

test("a time of another day is shown with its date, as it is where the reader is", (t) => {
  const { textContent } = shown(t, "2026-11-24T19:00:00Z");
  assert.match(textContent, /Nov/);
  assert.match(textContent, /25/);
  assert.match(textContent, /12:30\sAM|00:30/);
});

test("what is no time stays as the server wrote it", (t) => assert.equal(shown(t, "soon").textContent, "as the server wrote it"));
