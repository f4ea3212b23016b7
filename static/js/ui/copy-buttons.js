/**
 * A button that copies: `<button data-copy="#id">` the text or value of that element, `<button data-copy-text="…">` its
 * own. Participants' pages say what happened in their language: `data-copied`, `data-not-copied`.
 */

import { delegate } from "./event-delegation.js";
import { toast } from "./toasts.js";

/** @param {HTMLElement} button @returns {string} */
function textOf(button) {
  if (button.dataset.copyText !== undefined) return button.dataset.copyText;
  const source = document.querySelector(button.dataset.copy ?? "");
  if (source instanceof HTMLInputElement || source instanceof HTMLTextAreaElement) return source.value;
  return source?.textContent?.trim() ?? "";
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  return delegate(root, "click", "[data-copy], [data-copy-text]", async (button) => {
    try {
      await navigator.clipboard.writeText(textOf(button));
      toast(button.dataset.copied ?? "Copied.", "good");
    } catch {
      toast(button.dataset.notCopied ?? "This browser does not allow copying. Select the text and copy it yourself.", "warn");
    }
  });
}
