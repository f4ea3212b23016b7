/** A queue by keyboard and mouse: rows are selected, and what is selected is decided together. */

import { listen } from "../replay/shortcuts.js";
import { all, delegate } from "../ui/event-delegation.js";
import { actions } from "./decision-shortcuts.js";

/** The rows that can be selected, and which are. */
class Selection {
  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form;
    /** @type {HTMLInputElement | null} the box that was pressed last, where a range begins */
    this.last = null;
  }

  /** @returns {HTMLInputElement[]} */
  get boxes() {
    return [...this.form.querySelectorAll("input[name=selected]")].filter((box) => box instanceof HTMLInputElement);
  }

  get count() {
    return this.boxes.filter((box) => box.checked).length;
  }

  /** @param {boolean} checked */
  setAll(checked) {
    for (const box of this.boxes) box.checked = checked;
    this.show();
  }

  /** @param {HTMLInputElement} box @param {boolean} through whether all between this box and the last follow it */
  pressed(box, through) {
    const { boxes } = this;
    if (through && this.last) {
      const [from, to] = [boxes.indexOf(this.last), boxes.indexOf(box)].sort((a, b) => a - b);
      for (const between of boxes.slice(from, to + 1)) between.checked = box.checked;
    }
    this.last = box;
    this.show();
  }

  /** Say how many are selected. */
  show() {
    const { count, boxes } = this;
    const whole = this.form.querySelector("[data-select-all]");
    if (whole instanceof HTMLInputElement) {
      whole.checked = count > 0 && count === boxes.length;
      whole.indeterminate = count > 0 && count < boxes.length;
    }
    const label = this.form.querySelector("[data-selected-count]");
    if (label) label.textContent = count ? `${count} selected` : "";
  }
}

/** @param {HTMLFormElement} form @param {Selection} selection @returns {Record<string, () => void>} */
function keys(form, selection) {
  const rows = () => [...form.querySelectorAll("tbody tr")];
  const at = () => rows().findIndex((row) => row.contains(document.activeElement));
  /** @param {number} step */
  const move = (step) => {
    const found = rows();
    const here = at();
    const next = here < 0 ? (step > 0 ? 0 : found.length - 1) : Math.max(0, Math.min(found.length - 1, here + step));
    const target = found[next]?.querySelector("th a, input[name=selected]");
    if (target instanceof HTMLElement) {
      target.focus();
      target.scrollIntoView({ block: "nearest" });
    }
  };
  const current = () => {
    const box = rows()[at()]?.querySelector("input[name=selected]");
    return box instanceof HTMLInputElement ? box : null;
  };
  /** @type {Record<string, () => void>} */
  const found = {
    j: () => move(1),
    k: () => move(-1),
    x: () => {
      const box = current();
      if (!box) return;
      box.checked = !box.checked;
      selection.pressed(box, false);
    },
  };
  for (const button of form.querySelectorAll("[data-bulk]")) {
    if (!(button instanceof HTMLButtonElement)) continue;
    found[button.dataset.bulk ?? ""] = () => {
      const box = current();
      if (!selection.count && box) box.checked = true;
      selection.show();
      if (selection.count) form.requestSubmit(button);
    };
  }
  return found;
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  const form = root.querySelector("[data-selection]");
  const help = () => {
    const button = root.querySelector("[data-opens='#queue-help']");
    if (button instanceof HTMLElement) button.click();
  };
  if (!(form instanceof HTMLFormElement)) return listen(root, { ...actions(root), "?": help });
  const selection = new Selection(form);
  // Back from the next page, the browser may have kept what was selected.
  const shown = () => selection.show();
  window.addEventListener("pageshow", shown);
  selection.show();
  return all(
    () => window.removeEventListener("pageshow", shown),
    delegate(form, "click", "input[name=selected]", (box, event) => {
      if (box instanceof HTMLInputElement) selection.pressed(box, event.shiftKey);
    }),
    delegate(form, "change", "[data-select-all]", (box) => {
      if (box instanceof HTMLInputElement) selection.setAll(box.checked);
    }),
    delegate(form, "click", "[data-select-none]", () => {
      selection.setAll(false);
      // The bar with this button goes.
      const whole = form.querySelector("[data-select-all]");
      if (whole instanceof HTMLElement) whole.focus();
    }),
    listen(root, { ...actions(root), ...keys(form, selection), "?": help }),
  );
}

init(document);
