import assert from "node:assert/strict";
import { test } from "node:test";

import { shortName } from "../../../static/js/ui/short-names.js";

/** @type {[string, string][]} title, and short name */
const NAMES = [
  ["My RAG system", "my-rag-system"],
  ["  Größe & Café (2026)! ", "grosse-cafe-2026"],
  ["日本", ""],
  ["a".repeat(60), "a".repeat(50)],
];

for (const [title, name] of NAMES) test(`"${title}" becomes "${name}"`, () => assert.equal(shortName(title), name));
