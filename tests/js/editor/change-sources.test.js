import assert from "node:assert/strict";
import { test } from "node:test";

import { keyClass, sourceOf } from "../../../static/js/editor/log/change-sources.js";

/** @type {[object, string][]} what an event says, and what the change is taken for */
const CHANGES = [
  [{ inputType: "insertReplacementText" }, "replaced"],
  [{ inputType: "insertText", corrects: true }, "replaced"],
  [{ inputType: "insertTranspose" }, "replaced"],
  [{ inputType: "insertFromDrop" }, "dropped"],
  [{ inputType: "deleteByDrag" }, "dropped"],
  [{ inputType: "insertText", isComposing: true }, "composed"],
  [{ inputType: "insertText", isComposing: true, corrects: true }, "composed"],
  [{ inputType: "insertCompositionText" }, "composed"],
  [{ inputType: "deleteCompositionText" }, "composed"],
  [{ inputType: "insertDictationResult" }, "composed"],
  [{ inputType: "insertText", isTrusted: false }, "external"],
  [{ inputType: "insertFromPaste", isTrusted: false }, "external"],
  [{ inputType: "" }, "external"],
  [{ inputType: "insertText" }, "typed"],
  [{ inputType: "insertLineBreak" }, "typed"],
  [{ inputType: "insertLineBreak", corrects: true }, "typed"],
  [{ inputType: "insertSomethingNew" }, "typed"],
  [{ inputType: "insertFromPaste" }, "pasted"],
  [{ inputType: "insertFromPaste", corrects: true }, "pasted"],
  [{ inputType: "insertFromYank" }, "pasted"],
  [{ inputType: "deleteByCut" }, "cut"],
  [{ inputType: "deleteContentBackward" }, "deleted"],
  [{ inputType: "deleteWordForward" }, "deleted"],
  [{ inputType: "historyUndo" }, "undone"],
  [{ inputType: "historyRedo" }, "redone"],
];

for (const [said, source] of CHANGES) {
  test(`${JSON.stringify(said)} is ${source}`, () => {
    const { corrects, ...event } = { isTrusted: true, isComposing: false, corrects: false, inputType: "", ...said };
    assert.equal(sourceOf(event, corrects), source);
  });
}

/** @type {Record<string, (string | object)[]>} classes, and keys of each */
const KEYS = {
  letter: ["q", "Q", "ß", "Ž", "ع", "日", "e\u0301"],
  digit: ["7", "٣"],
  space: [" "],
  mark: ["?", "€", "+", "「"],
  enter: ["Enter"],
  backspace: ["Backspace"],
  delete: ["Delete"],
  move: ["ArrowLeft", "Home", "PageDown", "Tab"],
  modifier: ["Shift", "AltGraph", "CapsLock", { key: "Control", ctrlKey: true }, { key: "Meta", metaKey: true }],
  command: [{ key: "c", ctrlKey: true }, { key: "v", metaKey: true }, { key: "ArrowLeft", ctrlKey: true }],
  other: ["F9", "Dead", "Unidentified", { key: "a", isComposing: true }, { key: "a", keyCode: 229 }],
};

for (const [name, keys] of Object.entries(KEYS)) {
  test(`keys of the class ${name}`, () => {
    for (const each of keys) {
      const pressed = typeof each === "string" ? { key: each } : each;
      const event = { isComposing: false, keyCode: 0, ctrlKey: false, metaKey: false, getModifierState: () => false, ...pressed };
      assert.equal(keyClass(/** @type {any} */ (event)), name, JSON.stringify(each));
    }
  });
}

test("a character written with AltGr is no command", () => {
  const event = { key: "@", ctrlKey: true, keyCode: 0, getModifierState: (/** @type {string} */ name) => name === "AltGraph" };
  assert.equal(keyClass(/** @type {any} */ (event)), "mark");
});
