/** Answers each line of JSON on the input with one on the output: so a test in Python asks JavaScript. */

import { createInterface } from "node:readline";

/** @param {(question: any) => any} reply */
export async function answer(reply) {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(reply(JSON.parse(line)))}\n`);
  }
}
