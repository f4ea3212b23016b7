/** Native dialogs: `<button data-opens="#id">` opens one, `<button data-closes>` inside closes it, a press beside it too. */

import { all, delegate } from "./event-delegation.js";

/** @param {Document} root @returns {() => void} */
export function init(root) {
  return all(
    delegate(root, "click", "[data-opens]", (button) => {
      const dialog = document.querySelector(button.dataset.opens ?? "");
      if (!(dialog instanceof HTMLDialogElement) || dialog.open) return;
      dialog.showModal();
      // A menu closes when the focus leaves it, and what is hidden cannot take the focus back.
      const menu = button.closest("details.menu")?.querySelector("summary");
      if (menu) dialog.addEventListener("close", () => menu.focus(), { once: true });
    }),
    delegate(root, "click", "dialog [data-closes]", (button) => button.closest("dialog")?.close()),
    delegate(root, "click", "dialog[open]", (dialog, event) => {
      if (!(dialog instanceof HTMLDialogElement) || event.target !== dialog) return;
      // A click on the dialog itself is on its backdrop or its padding; only the former lies outside its box.
      const box = dialog.getBoundingClientRect();
      const inside = event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
      if (!inside && event.detail > 0) dialog.close();
    }),
  );
}
