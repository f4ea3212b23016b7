/**
 * A button that copies: `<button data-copy="#id">` the text or value of that element, `<button data-copy-text="…">` its
 * own. Pages in another language than English have its messages in their body: `data-copied`, `data-not-copied`.
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
    const { copied, notCopied } = document.body.dataset;
    try {
      await navigator.clipboard.writeText(textOf(button));
      toast(copied ?? "Copied.", "good");
    } catch {
      toast(notCopied ?? "This browser does not allow copying. Select the text and copy it yourself.", "warn");
    }
  });
}
