/** Citing a passage at the caret, whichever way it was asked for. */

import { announce, say } from "./say.js";
import { citing, completing } from "./cite.js";
import { points } from "./statements.js";
import { desk } from "./desk.js";
import { show } from "./panes.js";

/** @param {import("./cite.js").Edit} edit @param {number} rank @param {string} way */
function put(edit, rank, way) {
  const writing = desk.writing;
  if (!writing) return;
  // The field must be shown and have the focus, or the browser would not know how to undo this.
  show("text");
  desk.text.focus({ preventScroll: true });
  const position = points(desk.text.value, edit.start);
  writing.insert(edit.text, { start: edit.start, end: edit.end, source: "cited", caret: edit.caret });
  desk.record("b", rank, position, way);
  desk.changed();
  announce(say(edit.merged ? "cited.added" : "cited.now", { rank }));
}

/**
 * Cite a passage where the caret is: a button on the passage, or a shortcut.
 * @param {number} rank
 * @param {"button" | "shortcut"} way
 */
export function cite(rank, way) {
  if (!desk.isOpen || !desk.passage(rank)) return;
  const edit = citing(desk.text.value, desk.text.selectionEnd, rank, desk.passages.length);
  if (edit) {
    put(edit, rank, way);
    return;
  }
  show("text");
  desk.text.focus({ preventScroll: true });
  announce(say("cited.already", { rank }));
}

/** @param {number} rank complete the marker that is being typed */
export function complete(rank) {
  const edit = completing(desk.text.value, desk.text.selectionEnd, rank);
  if (edit) put(edit, rank, "typed");
}

/** Record a marker that was typed to its end by hand. */
export function recordTyped() {
  desk.text.addEventListener("input", (event) => {
    if (!(event instanceof InputEvent) || event.data !== "]") return;
    const caret = desk.text.selectionEnd;
    const typed = /\[[\d\s,;\u2013-]*\]$/.exec(desk.text.value.slice(Math.max(0, caret - 120), caret));
    if (!typed) return;
    const position = points(desk.text.value, caret - typed[0].length);
    for (const [digits] of typed[0].matchAll(/\d+/g)) {
      if (desk.passage(Number(digits))) desk.record("b", Number(digits), position, "typed");
    }
  });
}
