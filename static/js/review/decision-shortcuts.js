/** Decisions by key: each key opens its form and puts the focus where one goes on, so that nothing is decided by one slip. */

/** @param {Document} root @returns {Record<string, () => void>} what each key does */
export function actions(root) {
  /** @type {Record<string, () => void>} */
  const found = {};
  for (const button of root.querySelectorAll("[data-review-key]")) {
    if (!(button instanceof HTMLElement)) continue;
    found[button.dataset.reviewKey ?? ""] = () => {
      if ("reviewAtOnce" in button.dataset) button.click();
      else button.focus();
    };
  }
  for (const panel of root.querySelectorAll("[data-review-panel]")) {
    if (!(panel instanceof HTMLDetailsElement)) continue;
    found[panel.dataset.reviewPanel ?? ""] = () => {
      panel.open = true;
      const field = panel.querySelector("textarea") ?? panel.querySelector("input:not([type=hidden])");
      if (field instanceof HTMLElement) field.focus();
    };
  }
  return found;
}

/** @param {Document} root @returns {() => void} Escape closes a form; Ctrl and Enter in it send it */
export function init(root) {
  const escape = () => {
    const panel = root.querySelector("details.decision[open]");
    if (!(panel instanceof HTMLDetailsElement)) return;
    const inside = panel.contains(root.activeElement);
    panel.open = false;
    if (inside) panel.querySelector("summary")?.focus();
  };
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (event.key === "Escape") escape();
    const { target } = event;
    const sends = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    const field = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
    if (!sends || !field || !target.closest(".decision-panel")) return;
    event.preventDefault();
    target.form?.requestSubmit();
  };
  root.addEventListener("keydown", pressed);
  return () => root.removeEventListener("keydown", pressed);
}
