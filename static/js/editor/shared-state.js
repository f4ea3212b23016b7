/**
 * What the parts of the page share: the text field, the passages, what is recorded, and who wants to know what changed.
 */

import { byId } from "../ui/dom.js";
import { parse } from "./statements.js";

const text = byId("text", HTMLTextAreaElement);
const list = byId("passage-list", HTMLElement);
/** @type {HTMLElement[]} */
const passages = [...list.querySelectorAll("li[data-rank]")].filter((item) => item instanceof HTMLElement);

/** @typedef {{value: string, statements: import("./statements.js").Statement[], cited: Map<number, number>}} Reading */

/** @type {import("./log/session.js").Writing | null} */
let writing = null;
/** @type {Reading} */
let reading = { value: "", statements: [], cited: new Map() };
/** @type {((reading: Reading) => void)[]} */
const watching = [];
let due = false;

/** @returns {Reading} */
function read() {
  const { statements } = parse(text.value, passages.length);
  /** @type {Map<number, number>} */
  const cited = new Map();
  for (const statement of statements) for (const rank of statement.citations) cited.set(rank, (cited.get(rank) ?? 0) + 1);
  return { value: text.value, statements, cited };
}

function tell() {
  due = false;
  reading = read();
  for (const each of watching) each(reading);
}

export const editor = {
  text,
  list,
  passages,

  /** @returns {import("./log/session.js").Writing | null} null until the page has started */
  get writing() {
    return writing;
  },

  /** @param {import("./log/session.js").Writing} opened */
  begin(opened) {
    writing = opened;
    tell();
  },

  /** @param {(reading: Reading) => void} listener told of the text, taken apart, after it changed: once a frame at most */
  watch(listener) {
    watching.push(listener);
  },

  /** @returns {boolean} whether the writer may change the text now */
  get isOpen() {
    return writing !== null && !text.disabled && !text.readOnly;
  },

  /** The text changed, however that came. */
  changed() {
    if (due) return;
    due = true;
    // After the frame that shows the letter, so that typing never waits for what is said about it.
    requestAnimationFrame(() => setTimeout(tell));
  },

  /** @returns {Reading} the text as it is now, taken apart */
  reading() {
    return text.value === reading.value ? reading : read();
  },

  /** @param {number} rank @returns {HTMLElement | undefined} */
  passage(rank) {
    return passages[rank];
  },

  /** @param {number} rank @returns {string} */
  passageText(rank) {
    return passages[rank]?.querySelector(".passage-text")?.textContent ?? "";
  },

  /** @param {string} kind @param {...(string | number | boolean)} fields */
  record(kind, ...fields) {
    writing?.record(kind, ...fields);
  },
};

/** @param {HTMLElement} passage @returns {number} */
export const rankOf = (passage) => Number(passage.dataset.rank);
