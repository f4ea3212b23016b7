/** Citing a passage at the caret, whichever way it was asked for. */

import { announce, say } from "../ui/script-messages.js";
import { citing, completing } from "./citation-edits.js";
import { points } from "./statements.js";
import { editor } from "./shared-state.js";
import { show } from "./panes.js";

/** @param {import("./citation-edits.js").Edit} edit @param {number} rank @param {string} way */
function put(edit, rank, way) {
  const writing = editor.writing;
  if (!writing) return;
  // The field must be shown and have the focus, or the browser would not know how to undo this.
  show("text");
  editor.text.focus({ preventScroll: true });
  const position = points(editor.text.value, edit.start);
  writing.insert(edit.text, { start: edit.start, end: edit.end, source: "cited", caret: edit.caret });
  editor.record("b", rank, position, way);
  editor.changed();
  announce(say(edit.merged ? "cited.added" : "cited.now", { rank }));
}

/**
 * Cite a passage where the caret is: a button on the passage, or a shortcut.
 * @param {number} rank
 * @param {"button" | "shortcut"} way
 */
export function cite(rank, way) {
  if (!editor.isOpen || !editor.passage(rank)) return;
  const edit = citing(editor.text.value, editor.text.selectionEnd, rank, editor.passages.length);
  if (edit) {
    put(edit, rank, way);
    return;
  }
  show("text");
  editor.text.focus({ preventScroll: true });
  announce(say("cited.already", { rank }));
}

/** @param {number} rank complete the marker that is being typed */
export function complete(rank) {
  const edit = completing(editor.text.value, editor.text.selectionEnd, rank);
  if (edit) put(edit, rank, "typed");
}

/** Record a marker that was typed to its end by hand. */
export function recordTyped() {
  editor.text.addEventListener("input", (event) => {
    if (!(event instanceof InputEvent) || event.data !== "]") return;
    const caret = editor.text.selectionEnd;
    const typed = /\[[\d\s,;\u2013-]*\]$/.exec(editor.text.value.slice(Math.max(0, caret - 120), caret));
    if (!typed) return;
    const position = points(editor.text.value, caret - typed[0].length);
    for (const [digits] of typed[0].matchAll(/\d+/g)) {
      if (editor.passage(Number(digits))) editor.record("b", Number(digits), position, "typed");
    }
  });
}
