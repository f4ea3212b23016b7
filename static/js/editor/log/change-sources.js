/** How a change came about, and which class a key is of (writing/editor/events.py has the lists). */

/** @type {Record<string, string>} */
const SOURCES = {
  insertText: "typed",
  insertLineBreak: "typed",
  insertParagraph: "typed",
  insertCompositionText: "composed",
  insertFromComposition: "composed",
  deleteCompositionText: "composed",
  deleteByComposition: "composed",
  insertDictationResult: "composed",
  insertFromPaste: "pasted",
  insertFromPasteAsQuotation: "pasted",
  insertFromYank: "pasted",
  insertFromDrop: "dropped",
  deleteByDrag: "dropped",
  deleteByCut: "cut",
  insertReplacementText: "replaced",
  insertTranspose: "replaced",
  historyUndo: "undone",
  historyRedo: "redone",
};

/**
 * Say how a change came about.
 * @param {{inputType: string, isTrusted: boolean, isComposing: boolean}} event
 * @param {boolean} corrects whether text that was not selected gave way to what was put in
 * @returns {string}
 */
export function sourceOf({ inputType, isTrusted, isComposing }, corrects) {
  // A script can send any event that it likes; what it did is from outside all the same.
  if (!isTrusted || !inputType) return "external";
  const source = SOURCES[inputType] ?? (inputType.startsWith("delete") ? "deleted" : "typed");
  if (source !== "typed") return source;
  if (isComposing) return "composed";
  // iOS corrects by an insertion like any other, only that a word goes for it.
  return corrects && inputType === "insertText" ? "replaced" : "typed";
}

const MOVES = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown", "Tab"]);
const MODIFIERS = new Set(["Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Fn", "NumLock"]);
/** @type {Record<string, string>} */
const NAMED = { Enter: "enter", Backspace: "backspace", Delete: "delete", " ": "space" };

/**
 * Name the class of a key. Which letter it was is not looked at any further.
 * @param {KeyboardEvent} event
 * @returns {string}
 */
export function keyClass(event) {
  const { key } = event;
  if (event.isComposing || event.keyCode === 229) return "other";
  if (MODIFIERS.has(key)) return "modifier";
  // AltGr is Control with Alt on some systems, and writes characters.
  if ((event.ctrlKey || event.metaKey) && !event.getModifierState("AltGraph")) return "command";
  if (MOVES.has(key)) return "move";
  if (key in NAMED) return NAMED[key];
  if (/^\p{L}\p{M}*$/u.test(key)) return "letter";
  if (/^\p{N}$/u.test(key)) return "digit";
  if (/^[\p{P}\p{S}]$/u.test(key)) return "mark";
  return "other";
}
