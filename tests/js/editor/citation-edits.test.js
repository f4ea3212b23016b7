import assert from "node:assert/strict";
import { test } from "node:test";

import { beingTyped, citing, completing } from "../../../static/js/editor/citation-edits.js";

/** @param {string} marked text with "|" where the caret is @returns {[string, number]} */
function read(marked) {
  return [marked.replace("|", ""), marked.indexOf("|")];
}

/** @param {string} text @param {import("../../../static/js/editor/citation-edits.js").Edit | null} edit @returns {string | null} */
function edited(text, edit) {
  if (!edit) return null;
  const done = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
  return `${done.slice(0, edit.caret)}|${done.slice(edit.caret)}`;
}

/** @type {[string, string | null][]} before and after citing passage 7 of 20 */
const CITED = [
  ["|", "[7]|"],
  ["Leaves fall|", "Leaves fall [7]|"],
  ["Leaves fall |", "Leaves fall [7]|"],
  ["Leaves fall.|", "Leaves fall [7].|"],
  ['She said "no."|', 'She said "no." [7]|'],
  ["Leaves fall.| Snow", "Leaves fall [7].| Snow"],
  ["Leaves| fall", "Leaves [7]| fall"],
  ["Lea|ves", "Lea [7] |ves"],
  ["Fall [3]|", "Fall [3, 7]|"],
  ["Fall [3] |", "Fall [3, 7] |"],
  ["Fall [3].|", "Fall [3, 7].|"],
  ["Fall [3]. |", "Fall [3, 7]. |"],
  ["Fall [3]. More|", "Fall [3]. More [7]|"],
  ["Fall [3|]", "Fall [3, 7]|"],
  ["Fall| [3]", "Fall [3, 7]|"],
  ["Fall [3][5]|", "Fall [3][5, 7]|"],
  ["Fall [3,]|", "Fall [3, 7,]|"],
  ["Fall [25]|", "Fall [25, 7]|"],
  ["Fall [0, 7]|", null],
  ["Fall [3].\n|", "Fall [3].\n[7]|"],
  ["葉が落ちる。|", "葉が落ちる [7]。|"],
  ["😀|", "😀 [7]|"],
  ["3.|5 metres", "3. [7] |5 metres"],
];

for (const [before, after] of CITED) {
  test(`citing at ${JSON.stringify(before)}`, () => {
    const [text, caret] = read(before);
    assert.equal(edited(text, citing(text, caret, 7, 20)), after);
  });
}

/** @type {[string, ReturnType<typeof beingTyped>][]} what is being typed at the caret */
const TYPED = [
  ["Tides|", null],
  ["Tides [|", { open: 6, digits: "", cited: [], words: "" }],
  ["Tides [1|", { open: 6, digits: "1", cited: [], words: "" }],
  ["Tides [3, |", { open: 6, digits: "", cited: [3], words: "" }],
  ["Tides [3;14, 1|", { open: 6, digits: "1", cited: [3, 14], words: "" }],
  ["Tides [harbour 12|", { open: 6, digits: "", cited: [], words: "harbour 12" }],
  ["Tides [3]|", null],
  ["Tides [3, tide|", null],
  ["Tides [\nfive|", null],
  ["[1| 2]", { open: 0, digits: "1", cited: [], words: "" }],
];

for (const [marked, typed] of TYPED) {
  test(`the marker being typed at ${JSON.stringify(marked)}`, () => assert.deepEqual(beingTyped(...read(marked)), typed));
}

/** @type {[string, number, string | null][]} before, the passage chosen, and after */
const COMPLETED = [
  ["Tides [|", 2, "Tides [2]|"],
  ["Tides [1|", 19, "Tides [19]|"],
  ["Tides [19|", 19, "Tides [19]|"],
  ["Tides [2|", 19, null],
  ["Tides [19, |", 4, "Tides [19, 4]|"],
  ["Tides [1|]", 12, "Tides [12]|"],
  ["Tides [1|, 3]", 12, "Tides [12|, 3]"],
  ["Tides [harbour 12|", 12, "Tides [12]|"],
  ["Tides|", 3, null],
];

for (const [before, rank, after] of COMPLETED) {
  test(`choosing passage ${rank} at ${JSON.stringify(before)}`, () => {
    const [text, caret] = read(before);
    assert.equal(edited(text, completing(text, caret, rank)), after);
  });
}
