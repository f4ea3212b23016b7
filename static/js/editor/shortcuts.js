/**
 * Keys of the page. None of them types a letter on any layout, as Alt with a digit does on a Mac; none is a screen
 * reader's; each has a button beside it that does the same. The list in the help dialog is in the template.
 */

import { byId } from "../ui/dom.js";
import { editor } from "./shared-state.js";
import { step as stepFindings } from "./findings.js";
import { cite } from "./citation-insertion.js";
import { show } from "./panes.js";
import { passageAtHand, visit } from "./passages.js";
import { speak } from "./save-status.js";
import { focusSearch, step as stepHits } from "./passage-search.js";

const help = byId("help-dialog", HTMLDialogElement);
const instructions = byId("instructions", HTMLDetailsElement);
const lower = byId("lower", HTMLElement);

export function toText() {
  show("text");
  editor.text.focus({ preventScroll: true });
}

/** @param {number} by from the text to the passages, to the findings or the preview, and around */
function cycle(by) {
  const goes = [toText, () => (editor.passages.length ? visit(passageAtHand()) : focusSearch()), toLower];
  const here = byId("pane-passages", HTMLElement).contains(document.activeElement) ? 1 : lower.contains(document.activeElement) ? 2 : 0;
  const inText = document.activeElement === editor.text;
  goes[here === 0 && !inText ? 0 : (here + by + goes.length) % goes.length]();
}

function toLower() {
  show("text");
  const target = lower.querySelector("[aria-pressed=true]");
  if (target instanceof HTMLElement) target.focus();
}

function toggleInstructions() {
  show("text");
  instructions.open = !instructions.open;
  const summary = instructions.querySelector("summary");
  if (instructions.open) summary?.focus();
  else toText();
}

/** @type {Record<string, (back: boolean) => void>} */
const FUNCTION_KEYS = {
  F2: toggleInstructions,
  F3: (back) => (byId("search", HTMLInputElement).value ? stepHits(back ? -1 : 1) : focusSearch()),
  F4: () => byId("lower", HTMLElement).querySelector(":scope [aria-pressed=false]")?.dispatchEvent(new MouseEvent("click", { bubbles: true })),
  F6: (back) => cycle(back ? -1 : 1),
  F8: (back) => stepFindings(back ? -1 : 1),
};

/** @param {KeyboardEvent} event */
function pressed(event) {
  if (event.isComposing || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const { target, key } = event;
  const command = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const writes = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && !["checkbox", "radio"].includes(target.type));
  if (command && key === "Enter") cite(passageAtHand(), "shortcut");
  // By habit; there is nothing to do but to say how it stands.
  else if (command && key.toLowerCase() === "s") speak();
  else if (plain && key in FUNCTION_KEYS) FUNCTION_KEYS[key](event.shiftKey);
  else if (plain && key === "?" && !writes) help.showModal();
  else if (plain && key === "/" && !writes) focusSearch();
  else if (plain && key === "Escape" && target !== editor.text) toText();
  else return;
  event.preventDefault();
}

export function start() {
  document.addEventListener("keydown", pressed);
  for (const link of document.querySelectorAll("a[data-goes]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      if (link instanceof HTMLElement && link.dataset.goes === "passages") visit(passageAtHand());
      else toText();
    });
  }
}
