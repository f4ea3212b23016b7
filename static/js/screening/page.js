/** Screening by keyboard: decisions as in review, and moving from item to item. */

import { listen } from "../replay/shortcuts.js";
import { actions, init as reviewing } from "../review/decision-shortcuts.js";
import { all } from "../ui/event-delegation.js";

/** @param {Document} root @returns {Record<string, () => void>} what each key does with the items */
function items(root) {
  const found = () => [...root.querySelectorAll("[data-screening-entry]")].filter((each) => each instanceof HTMLElement);
  /** @returns {number} which item has the focus, or holds what has it; -1 for none */
  const at = () => found().findIndex((each) => each.contains(root.activeElement));
  /** @param {number} step */
  const move = (step) => {
    const entries = found();
    if (!entries.length) return;
    const here = at();
    const next = here < 0 ? (step > 0 ? 0 : entries.length - 1) : Math.max(0, Math.min(entries.length - 1, here + step));
    entries[next].focus();
    entries[next].scrollIntoView({ block: "start" });
  };
  const texts = () => {
    const details = found()[at()]?.querySelector("details.more");
    if (details instanceof HTMLDetailsElement) details.open = !details.open;
  };
  return { j: () => move(1), k: () => move(-1), t: texts };
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  const help = () => {
    const button = root.querySelector("[data-opens='#screening-help']");
    if (button instanceof HTMLElement) button.click();
  };
  return all(reviewing(root), listen(root, { ...actions(root), ...items(root), "?": help }));
}

init(document);
