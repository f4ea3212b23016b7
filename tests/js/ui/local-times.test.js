import assert from "node:assert/strict";
import { test } from "node:test";

process.env.TZ = "Asia/Kolkata";
const { fullTime, init, shortTime } = await import("../../../static/js/ui/local-times.js");

/** @param {import("node:test").TestContext} t it is noon in UTC on 24 Nov 2026, on an English page */
function noon(t) {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-24T12:00:00Z") });
  Object.assign(globalThis, { document: { documentElement: { lang: "en" } } });
}

/** @param {string} datetime @returns {string} what an element with this time shows */
function shown(datetime) {
  const element = { textContent: "as the server wrote it", getAttribute: () => datetime };
  init(/** @type {any} */ ({ querySelectorAll: () => [element] }));
  return element.textContent;
}

test("a time of today is short without its date, in the reader's zone", (t) => {
  noon(t);
  assert.equal(shortTime(new Date("2026-11-24T16:52:00Z")), "22:22");
});

test("a time soon after midnight needs no date", (t) => {
  noon(t);
  t.mock.timers.setTime(Date.parse("2026-11-24T18:00:00Z"));
  assert.equal(shortTime(new Date("2026-11-24T19:00:00Z")), "00:30");
});

test("a time of another day is short with its date, as it is where the reader is", (t) => {
  noon(t);
  assert.equal(shortTime(new Date("2026-11-24T19:00:00Z")), "25 Nov, 00:30");
});

test("a time in full names the zone, and a page shows it so", (t) => {
  noon(t);
  const full = fullTime(new Date("2026-11-24T16:52:00Z"));
  assert.match(full, /^24 Nov 2026, 22:22 (GMT\+5:30|IST)$/);
  assert.equal(shown("2026-11-24T16:52:00Z"), full);
});

test("what is no time stays as the server wrote it", (t) => {
  noon(t);
  assert.equal(shown("soon"), "as the server wrote it");
});
