/** Menus are <details class="menu">; here they close with Escape, with a press elsewhere, and when the focus leaves. */

import { all } from "./event-delegation.js";

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
  root.addEventListener("click", elsewhere);
  root.addEventListener("focusin", elsewhere);
  root.addEventListener("keydown", escape);
  return all(
    () => root.removeEventListener("click", elsewhere),
    () => root.removeEventListener("focusin", elsewhere),
    () => root.removeEventListener("keydown", escape),
  );
}
