/**
 * Tables that sort in the browser: `<table class="data" data-sortable>`. Every header of the first row becomes a button;
 * pressed, the rows of each body go up, down, and back to how they came. Cells sort by `data-value` if they have it. Rows
 * without a value stay last either way. A header with `data-sort="off"` is left alone.
 */

import { all, delegate, whenLoaded } from "./event-delegation.js";

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/**
 * Read a number as a person writes it or a machine does; null where there is none.
 * @param {string} text
 * @returns {number | null}
 */
export function parseNumber(text) {
  const match = /^(?:[^\d\u2212+.-]|\.(?!\d))*([\u2212+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?)/i.exec(text.trim());
  if (!match) return null;
  const number = Number(match[1].replaceAll(",", "").replace("\u2212", "-"));
  return Number.isFinite(number) ? number : null;
}

/**
 * Compare two keys of one column; what has no value comes last in both directions.
 * @param {string | number | null} left
 * @param {string | number | null} right
 * @param {number} sign 1 ascending, -1 descending
 * @returns {number}
 */
export function compare(left, right, sign) {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  if (typeof left === "number" && typeof right === "number") return sign * (left - right);
  return sign * collator.compare(String(left), String(right));
}

/** @param {HTMLTableRowElement} row @param {number} column @param {boolean} numeric */
function keyOf(row, column, numeric) {
  const cell = row.cells[column];
  if (!cell) return null;
  const text = (cell.dataset.value ?? cell.textContent ?? "").trim();
  if (numeric) return parseNumber(text);
  return text === "" || text === "\u2013" ? null : text;
}

/** @param {HTMLTableSectionElement} body @param {number} column @param {boolean} numeric @param {string} order */
function sortBody(body, column, numeric, order) {
  const rows = [...body.rows];
  rows.forEach((row, index) => {
    row.dataset.came ??= String(index);
  });
  const came = (/** @type {HTMLTableRowElement} */ row) => Number(row.dataset.came);
  if (order === "none") {
    rows.sort((a, b) => came(a) - came(b));
  } else {
    const sign = order === "ascending" ? 1 : -1;
    const keys = new Map(rows.map((row) => [row, keyOf(row, column, numeric)]));
    rows.sort((a, b) => compare(keys.get(a) ?? null, keys.get(b) ?? null, sign) || came(a) - came(b));
  }
  body.append(...rows);
}

/** @param {Document | HTMLElement} root */
function prepare(root) {
  for (const header of root.querySelectorAll("table[data-sortable] > thead > tr:first-child > th:not([data-sort=off])")) {
    if (header.querySelector(".sort") || !header.textContent?.trim()) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...header.childNodes);
    header.append(button);
    header.setAttribute("aria-sort", "none");
  }
}

/** @param {HTMLElement} button */
function press(button) {
  const header = button.closest("th");
  const table = button.closest("table");
  if (!header || !table) return;
  const numeric = header.classList.contains("num");
  // Of numbers the largest is wanted first, of names the first.
  const steps = numeric ? ["none", "descending", "ascending"] : ["none", "ascending", "descending"];
  const order = steps[(steps.indexOf(header.getAttribute("aria-sort") ?? "none") + 1) % steps.length];
  for (const other of table.querySelectorAll("th[aria-sort]")) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", order);
  for (const body of table.tBodies) sortBody(body, header.cellIndex, numeric, order);
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  return all(whenLoaded(root, prepare), delegate(root, "click", "table[data-sortable] button.sort", press));
}
