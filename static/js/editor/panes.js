/**
 * The two halves of the page. Side by side where there is room; else one is shown, and a switch leads to the other. The
 * hidden one keeps its place in the layout, so that both keep how far they are scrolled.
 */

import { byId } from "../ui/dom.js";

const NARROW = window.matchMedia("(max-width: 59.99rem)");

/** @typedef {"text" | "passages"} Pane */

const main = byId("main", HTMLElement);
const instructions = byId("instructions", HTMLDetailsElement);
/** @type {Record<Pane, HTMLElement>} */
const panes = { text: byId("pane-text", HTMLElement), passages: byId("pane-passages", HTMLElement) };
const buttons = [...document.querySelectorAll("[data-pane]")].filter((each) => each instanceof HTMLElement);
/** @type {Pane} */
let current = "text";
/** @type {(() => void)[]} */
const watching = [];

function apply() {
  main.dataset.shown = current;
  for (const [name, pane] of Object.entries(panes)) pane.inert = NARROW.matches && name !== current;
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.pane === current));
  for (const each of watching) each();
}

/** @returns {boolean} whether the passages can be seen */
export const passagesShown = () => !NARROW.matches || current === "passages";

/** @returns {boolean} whether only one half is shown at a time */
export const oneAtATime = () => NARROW.matches;

/** @param {Pane} pane */
export function show(pane) {
  if (pane === current) return;
  current = pane;
  apply();
}

/** @param {() => void} listener told when something else is shown */
export function watch(listener) {
  watching.push(listener);
}

export function start() {
  NARROW.addEventListener("change", apply);
  // On a phone they would take the text's place; there, they wait to be opened (editor-narrow.css hides them until here).
  if (NARROW.matches) instructions.open = false;
  instructions.dataset.ready = "";
  for (const button of buttons) button.addEventListener("click", () => show(button.dataset.pane === "passages" ? "passages" : "text"));
  apply();
}
