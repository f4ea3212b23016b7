/** The list of passages: which one is at hand, which are open, how often each is cited, and moving in it by keys. */

import { editor, rankOf } from "./shared-state.js";
import { show } from "./panes.js";
import { say } from "../ui/script-messages.js";

let atHand = 0;

/** @returns {number} the passage that a shortcut cites: the one last visited */
export const passageAtHand = () => atHand;

/** @param {number} rank */
export function setAtHand(rank) {
  if (!editor.passages[rank]) return;
  editor.passages[atHand]?.classList.remove("is-active");
  atHand = rank;
  editor.passages[rank].classList.add("is-active");
  for (const passage of editor.passages) passage.tabIndex = rankOf(passage) === rank ? 0 : -1;
}

/** @param {HTMLElement} passage @returns {HTMLElement | null} */
const moreOf = (passage) => passage.querySelector(".passage-more");

/** @param {number} rank @param {boolean} open */
export function setOpen(rank, open) {
  const passage = editor.passages[rank];
  if (!passage || passage.classList.contains("is-open") === open) return;
  passage.classList.toggle("is-open", open);
  const more = moreOf(passage);
  if (more) {
    more.setAttribute("aria-expanded", String(open));
    const label = more.querySelector("span");
    if (label) label.textContent = say(open ? "less" : "more");
  }
  editor.record("o", rank, open ? 1 : 0);
}

/**
 * Bring a passage into the list's sight, without moving anything else on the page.
 * @param {number} rank
 * @param {Element} [inside] a part of it that is to be seen
 */
export function bring(rank, inside) {
  const target = inside ?? editor.passages[rank];
  if (!target) return;
  const [box, frame] = [target.getBoundingClientRect(), editor.list.getBoundingClientRect()];
  const margin = Math.min(48, frame.height / 6);
  if (!inside) editor.list.scrollTop += box.top - frame.top - 8;
  else if (box.top < frame.top + margin || box.bottom > frame.bottom - margin) editor.list.scrollTop += box.top - frame.top - frame.height / 3;
}

/** @param {number} rank go to a passage, with the focus */
export function visit(rank) {
  const passage = editor.passages[rank];
  if (!passage) return;
  show("passages");
  setAtHand(rank);
  passage.focus({ preventScroll: true });
  const [box, frame] = [passage.getBoundingClientRect(), editor.list.getBoundingClientRect()];
  if (box.top < frame.top || box.bottom > frame.bottom) bring(rank);
}

/** Say which passages are longer than what is shown of them; the button's place is kept free for it. */
function measure() {
  const long = editor.passages.map((passage) => {
    const text = passage.querySelector(".passage-text");
    return passage.classList.contains("is-open") || Boolean(text && text.scrollHeight > text.clientHeight + 2);
  });
  editor.passages.forEach((passage, rank) => passage.classList.toggle("is-long", long[rank]));
}

/** @param {KeyboardEvent} event @param {HTMLElement} passage */
function move(event, passage) {
  const shown = editor.passages.filter((each) => !each.hidden);
  const here = shown.indexOf(passage);
  /** @type {Record<string, number>} */
  const steps = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: shown.length - 1 };
  const target = steps[event.key];
  if (target === undefined || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const next = shown[Math.max(0, Math.min(target, shown.length - 1))];
  if (next) visit(rankOf(next));
}

/** @param {import("./shared-state.js").Reading} reading */
function count(reading) {
  for (const passage of editor.passages) {
    const times = reading.cited.get(rankOf(passage)) ?? 0;
    const place = passage.querySelector(".passage-cited");
    const text = times ? say("cited", { n: times }) : "";
    if (place && place.textContent !== text) place.textContent = text;
    passage.classList.toggle("is-cited", times > 0);
  }
}

/** @param {(rank: number) => void} cite */
export function start(cite) {
  if (editor.passages.length) setAtHand(0);
  measure();
  new ResizeObserver(measure).observe(editor.list);
  editor.watch(count);
  editor.list.addEventListener("click", (event) => {
    const passage = event.target instanceof Element ? event.target.closest("li[data-rank]") : null;
    if (!(passage instanceof HTMLElement) || !(event.target instanceof Element)) return;
    const rank = rankOf(passage);
    setAtHand(rank);
    if (event.target.closest(".passage-cite")) cite(rank);
    else if (event.target.closest(".passage-more")) setOpen(rank, !passage.classList.contains("is-open"));
  });
  editor.list.addEventListener("focusin", (event) => {
    const passage = event.target instanceof Element ? event.target.closest("li[data-rank]") : null;
    if (passage instanceof HTMLElement) setAtHand(rankOf(passage));
  });
  editor.list.addEventListener("keydown", (event) => {
    const passage = event.target instanceof Element ? event.target.closest("li[data-rank]") : null;
    if (!(passage instanceof HTMLElement)) return;
    move(event, passage);
    if (event.target !== passage || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter") cite(rankOf(passage));
    else if (event.key === " ") setOpen(rankOf(passage), !passage.classList.contains("is-open"));
    else return;
    event.preventDefault();
  });
}
