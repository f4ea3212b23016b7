/** A form that came back with errors: the summary takes the focus, so that it is read out and seen. */

import { whenLoaded } from "./event-delegation.js";

/** @param {Document | HTMLElement} root */
function focusSummary(root) {
  const inside = root.querySelector("[data-errors]");
  const summary = root instanceof HTMLElement && root.matches("[data-errors]") ? root : inside;
  if (summary instanceof HTMLElement) summary.focus();
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  return whenLoaded(root, focusSummary);
}
