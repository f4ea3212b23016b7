/** The line between the text and the passages: it is dragged, or moved by the arrow keys. The choice is kept in this browser. */

import { byId } from "../ui/dom.js";

// The same key is used in pane-divider-early.js.
const KEY = "crowdrag-editor-share";
const STEP = 2;

const divider = byId("divider", HTMLElement);
const main = byId("main", HTMLElement);
const [LEAST, MOST, USUAL] = ["min", "max", "now"].map((name) => Number(divider.getAttribute(`aria-value${name}`)));

let current = USUAL;

/** @param {number} percent the text's share of the page */
function show(percent) {
  current = Math.round(Math.max(LEAST, Math.min(percent, MOST)));
  document.documentElement.style.setProperty("--text-share", String(current));
  divider.setAttribute("aria-valuenow", String(current));
}

function keep() {
  try {
    localStorage.setItem(KEY, String(current));
  } catch {
    // Then it holds until the page is left.
  }
}

const isReversed = () => getComputedStyle(main).direction === "rtl";

/** @param {PointerEvent} event */
function drag(event) {
  if (!divider.hasPointerCapture(event.pointerId)) return;
  const { left, right, width } = main.getBoundingClientRect();
  const from = isReversed() ? right - event.clientX : event.clientX - left;
  show((100 * from) / width);
}

/** @param {KeyboardEvent} event */
function move(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const forth = isReversed() ? -STEP : STEP;
  /** @type {Record<string, number>} */
  const targets = { ArrowLeft: current - forth, ArrowRight: current + forth, Home: LEAST, End: MOST, Enter: USUAL };
  if (targets[event.key] === undefined) return;
  event.preventDefault();
  show(targets[event.key]);
  keep();
}

export function start() {
  const kept = Number(getComputedStyle(document.documentElement).getPropertyValue("--text-share"));
  if (kept) show(kept);
  divider.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    divider.setPointerCapture(event.pointerId);
    divider.focus({ preventScroll: true });
    event.preventDefault();
  });
  divider.addEventListener("pointermove", drag);
  divider.addEventListener("lostpointercapture", keep);
  divider.addEventListener("dblclick", () => {
    show(USUAL);
    keep();
  });
  divider.addEventListener("keydown", move);
}
