/** Fills a short name (`data-short-name-of` is the id of the title) while the title is typed, until somebody edits the name. */

import { all, delegate } from "./event-delegation.js";

/**
 * @param {string} title
 * @returns {string} a name for addresses: letters a to z, digits and hyphens
 */
export function shortName(title) {
  return title
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 50)
    .replace(/^-|-$/g, "");
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  return all(
    delegate(root, "input", "input", (title) => {
      if (!(title instanceof HTMLInputElement) || !title.id) return;
      const name = title.form?.querySelector(`[data-short-name-of="${title.id}"]`);
      if (!(name instanceof HTMLInputElement) || name.hasAttribute("data-edited")) return;
      name.value = shortName(title.value);
    }),
    delegate(root, "input", "[data-short-name-of]", (name) => name.toggleAttribute("data-edited", name.value !== "")),
  );
}
