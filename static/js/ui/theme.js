/** The choice of theme: auto follows the system, light and dark are kept in this browser. See theme-early.js. */

import { all, delegate, whenLoaded } from "./event-delegation.js";

const KEY = "crowdrag-theme";

/** @returns {string} */
function current() {
  return document.documentElement.dataset.theme ?? "auto";
}

/** @param {string} theme */
function apply(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.dispatchEvent(new CustomEvent("crowdrag:theme", { detail: { theme } }));
}

/** @param {string} theme */
function keep(theme) {
  try {
    if (theme === "auto") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Not kept, then: it holds for this page.
  }
}

/** @param {Document | HTMLElement} root */
function show(root) {
  for (const input of root.querySelectorAll("[data-theme-choice] input")) {
    if (input instanceof HTMLInputElement) input.checked = input.value === current();
  }
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  /** @param {StorageEvent} event */
  const fromOtherTab = (event) => {
    if (event.key !== KEY) return;
    apply(event.newValue ?? "auto");
    show(root);
  };
  window.addEventListener("storage", fromOtherTab);
  return all(
    whenLoaded(root, show),
    delegate(root, "change", "[data-theme-choice] input", (input) => {
      if (!(input instanceof HTMLInputElement)) return;
      apply(input.value);
      keep(input.value);
      show(root);
    }),
    () => window.removeEventListener("storage", fromOtherTab),
  );
}
