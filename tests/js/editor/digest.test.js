import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { sha256 } from "../../../static/js/editor/log/digest.js";

/** @param {string} text */
const expected = (text) => createHash("sha256").update(text, "utf8").digest("hex");

for (const text of ["", "abc", "žluť 😀", "long ".repeat(30_000)]) {
  test(`the check sum of ${JSON.stringify(text.slice(0, 10))} is SHA-256`, () => assert.equal(sha256(text), expected(text)));
}

test("the check sum is SHA-256 for each length around the ends of blocks", () => {
  for (let length = 0; length < 200; length += 1) assert.equal(sha256("x".repeat(length)), expected("x".repeat(length)));
});

test("the check sum is the published one", () => {
  assert.equal(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
