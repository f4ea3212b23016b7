/** File fields to drop on: says which file was chosen and how large it is, and that something is held over it. A form can be submitted at once. */

import { all, delegate } from "./event-delegation.js";

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/**
 * @param {number} bytes
 * @returns {string} a size as a person reads it
 */
export function size(bytes) {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${UNITS[unit]}`;
}

/** @param {HTMLElement} field @param {boolean} over */
const hold = (field, over) => field.classList.toggle("is-over", over);

/** @param {Document} root @returns {() => void} */
export function init(root) {
  return all(
    delegate(root, "change", "[data-drop] input[type=file]", (input) => {
      if (!(input instanceof HTMLInputElement)) return;
      const files = [...(input.files ?? [])];
      const name = input.closest("[data-drop]")?.querySelector("[data-drop-name]");
      if (name) name.textContent = files.map((file) => `${file.name} (${size(file.size)})`).join(", ");
      if (files.length > 0 && input.form?.matches("[data-submits-file]")) input.form.requestSubmit();
    }),
    delegate(root, "dragenter", "[data-drop]", (field) => hold(field, true)),
    delegate(root, "dragover", "[data-drop]", (field) => hold(field, true)),
    delegate(root, "dragleave", "[data-drop]", (field) => hold(field, false)),
    delegate(root, "drop", "[data-drop]", (field) => hold(field, false)),
  );
}
