/**
 * Menus are <details class="menu">; here they close with Escape, with a press elsewhere, and when the focus leaves. One that
 * would open beyond the window's side is moved inside.
 */

import { all } from "./event-delegation.js";

// So much room stays between a menu and the window's side, in pixels.
const MARGIN = 8;

/** @param {Event} event */
function clamp({ target }) {
  if (!(target instanceof HTMLDetailsElement) || !target.open || !target.matches(".menu")) return;
  const panel = target.querySelector(".menu-panel");
  if (!(panel instanceof HTMLElement)) return;
  panel.style.translate = "";
  const { left, right } = panel.getBoundingClientRect();
  const beyond = Math.max(0, right + MARGIN - document.documentElement.clientWidth);
  const by = left < MARGIN ? MARGIN - left : -Math.min(beyond, left - MARGIN);
  if (by) panel.style.translate = `${by}px`;
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  /** @param {(menu: HTMLDetailsElement) => boolean} which */
  const close = (which) => {
    for (const menu of root.querySelectorAll("details.menu[open]")) {
      if (menu instanceof HTMLDetailsElement && which(menu)) menu.open = false;
    }
  };
  /** @param {Event} event */
  const elsewhere = (event) => close((menu) => event.target instanceof Node && !menu.contains(event.target));
  /** @param {KeyboardEvent} event */
  const escape = (event) => {
    if (event.key !== "Escape") return;
    const menu = root.activeElement?.closest("details.menu[open]");
    close(() => true);
    if (menu) menu.querySelector("summary")?.focus();
  };
  root.addEventListener("toggle", clamp, { capture: true }); // it does not bubble
  root.addEventListener("click", elsewhere);
  root.addEventListener("focusin", elsewhere);
  root.addEventListener("keydown", escape);
  return all(
    () => root.removeEventListener("toggle", clamp, { capture: true }),
    () => root.removeEventListener("click", elsewhere),
    () => root.removeEventListener("focusin", elsewhere),
    () => root.removeEventListener("keydown", escape),
  );
}
