/** Below the text: what is worth a look, or the preview. The choice is kept in this browser. */

import { byId } from "../ui/dom.js";
import { refresh } from "./preview.js";

const KEY = "crowdrag-editor-lower";

const frame = byId("lower", HTMLElement);
const buttons = [...frame.querySelectorAll("[data-shows]")].filter((each) => each instanceof HTMLElement);

/** @param {string} name */
function show(name) {
  frame.dataset.shown = name;
  for (const button of buttons) {
    const on = button.dataset.shows === name;
    button.setAttribute("aria-pressed", String(on));
    const panel = document.getElementById(button.dataset.shows ?? "");
    if (panel) panel.hidden = !on;
  }
  refresh();
}

export function start() {
  let kept = "checks";
  try {
    kept = localStorage.getItem(KEY) ?? kept;
  } catch {
    // Storage may be forbidden.
  }
  show(kept === "preview" ? "preview" : "checks");
  frame.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-shows]") : null;
    if (!(button instanceof HTMLElement)) return;
    show(button.dataset.shows ?? "checks");
    if (document.activeElement === document.body || frame.contains(document.activeElement)) button.focus({ preventScroll: true });
    try {
      localStorage.setItem(KEY, frame.dataset.shown ?? "checks");
    } catch {
      // Then it holds until the page is left.
    }
  });
}
