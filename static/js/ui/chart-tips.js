/**
 * Shows the value, interval and n of a point of a chart while the pointer or the focus is on it: the text of `data-tip`.
 * Readers of the table have the same numbers in its cells, so the tip is hidden from assistive technology.
 */

import { all } from "./event-delegation.js";

const GAP = 8;

/** @param {Document} root @returns {() => void} */
export function init(root) {
  if (!root.querySelector("[data-tip]")) return () => {};
  const tip = root.createElement("div");
  tip.className = "chart-tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  root.body.append(tip);

  /** @param {Event} event */
  const show = (event) => {
    const point = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    if (!(point instanceof HTMLElement)) return hide();
    tip.textContent = point.dataset.tip ?? "";
    tip.hidden = false;
    const box = point.getBoundingClientRect();
    const left = Math.min(Math.max(GAP, box.left + (box.width - tip.offsetWidth) / 2), window.innerWidth - tip.offsetWidth - GAP);
    const above = box.top - tip.offsetHeight - GAP;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 0 ? above : box.bottom + GAP}px`;
  };
  const hide = () => {
    tip.hidden = true;
  };
  /** @param {KeyboardEvent} event */
  const escape = (event) => {
    if (event.key === "Escape") hide();
  };
  /** @type {[string, (event: any) => void][]} */
  const listeners = [["pointerover", show], ["focusin", show], ["focusout", hide], ["keydown", escape]];
  for (const [type, listener] of listeners) root.addEventListener(type, listener);
  root.addEventListener("scroll", hide, true);
  return all(
    ...listeners.map(([type, listener]) => () => root.removeEventListener(type, listener)),
    () => root.removeEventListener("scroll", hide, true),
    () => tip.remove(),
  );
}
