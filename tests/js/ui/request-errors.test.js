import assert from "node:assert/strict";
import { test } from "node:test";

import { cure } from "../../../static/js/ui/request-errors.js";
import { size } from "../../../static/js/ui/file-drop.js";

/** @type {[number, RegExp][]} status of a failed request, and what its reader is told */
const FAILURES = [
  [400, /Reload the page/],
  [403, /not allowed/],
  [404, /no longer exists/],
  [409, /Someone else changed this/],
  [413, /too large/],
  [418, /did not work \(418\)/],
  [429, /Wait a minute/],
  [500, /Server error/],
  [502, /Server error/],
  [503, /busy or restarting/],
  [504, /Server error/],
];

for (const [status, words] of FAILURES) test(`a request that fails with ${status} says what to do`, () => assert.match(cure(status), words));

/** @type {[number, string][]} */
const SIZES = [
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1_000, "1.0 kB"],
  [2_500, "2.5 kB"],
  [10_400, "10 kB"],
  [1_500_000, "1.5 MB"],
  [23_000_000_000, "23 GB"],
  [5e15, "5000 TB"],
];

for (const [bytes, text] of SIZES) test(`${bytes} bytes are ${text}`, () => assert.equal(size(bytes), text));
