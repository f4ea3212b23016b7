/** Saved replies: `<select data-fills="id">` puts the chosen text into that field, below what stands there already. */

import { delegate } from "./event-delegation.js";

/** @param {Document} root @returns {() => void} */
export function init(root) {
  return delegate(root, "change", "select[data-fills]", (menu) => {
    const field = root.getElementById(menu.dataset.fills ?? "");
    if (!(menu instanceof HTMLSelectElement) || !(field instanceof HTMLTextAreaElement) || !menu.value) return;
    const written = field.value.trimEnd();
    field.value = written ? `${written}\n\n${menu.value}` : menu.value;
    menu.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
}
