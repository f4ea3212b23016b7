/**
 * The same task in two tabs or on two devices: writing goes on in one of them. The other says so, keeps its text in sight
 * and lets the writer go on there; text that was left in the other is offered. Nothing is thrown away unasked.
 */

import { byId, make } from "../ui/dom.js";
import { editor } from "./shared-state.js";
import { announce, say } from "../ui/script-messages.js";

const dialog = byId("branch-dialog", HTMLDialogElement);
const title = byId("branch-title", HTMLElement);
const lede = byId("branch-lede", HTMLElement);
const place = byId("branch-texts", HTMLElement);
const keep = byId("branch-keep", HTMLButtonElement);
const main = byId("branch-main", HTMLButtonElement);

/** @typedef {{session: number, text: string}} Branch */

/** @param {string} text take it in place of what stands here; one undo brings that back */
async function replace(text) {
  await editor.writing?.takeOver(text);
  announce(say("branch.taken"));
}

/**
 * @param {string} text
 * @param {string} other
 * @returns {[number, number]} from where to where a text is another one than the other
 */
function difference(text, other) {
  const most = Math.min(text.length, other.length);
  let [same, rest] = [0, 0];
  while (same < most && text[same] === other[same]) same += 1;
  while (rest < most - same && text[text.length - 1 - rest] === other[other.length - 1 - rest]) rest += 1;
  // No letter of two units is torn apart.
  if (/[\uD800-\uDBFF]/.test(text[same - 1] ?? "")) same -= 1;
  if (/[\uDC00-\uDFFF]/.test(text[text.length - rest] ?? "")) rest -= 1;
  return [same, text.length - rest];
}

/**
 * @param {string} name
 * @param {string} text
 * @param {(() => void) | null} take
 * @param {string} [other] beside which it stands: where it differs is marked
 */
function card(name, text, take, other = text) {
  const body = make("div", { class: "branch-text", attributes: { dir: "auto", lang: editor.text.lang, tabindex: "0", role: "region", "aria-label": name } });
  const [start, end] = difference(text, other);
  if (other === text || !text) body.textContent = text || say("branch.nothing");
  else body.append(text.slice(0, start), make("mark", { text: text.slice(start, end) }), text.slice(end));
  const section = make("section", { class: "branch" }, make("h3", { text: name }), body);
  if (take) {
    const button = make("button", { class: "button", text: say("branch.take"), attributes: { type: "button" } });
    button.addEventListener("click", () => {
      dialog.close();
      take();
    });
    section.append(button);
  }
  return section;
}

/** Bring what is marked into sight, in each text's own box. */
function showDifferences() {
  for (const mark of place.querySelectorAll("mark")) {
    const box = mark.parentElement;
    if (box) box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  }
}

/** @param {Branch[]} others what other tabs or devices left behind */
export function offer(others) {
  const found = others.filter(({ text }) => text.trim() && text !== editor.text.value);
  if (!found.length) return;
  dialog.dataset.kind = "branch";
  main.hidden = true;
  title.textContent = say("branch.title");
  lede.textContent = say("branch.lede", { n: found.length });
  place.replaceChildren(
    card(say("branch.here"), editor.text.value, null, found[0]?.text),
    ...found.map(({ text }, number) => card(say("branch.there", { i: number + 1 }), text, () => void replace(text), editor.text.value)),
  );
  keep.textContent = say("branch.keep");
  if (!dialog.open) dialog.showModal();
  showDifferences();
}

/** @param {string} kind @param {(() => void) | null} go what the first button does; null: the dialog only closes */
function told(kind, go) {
  if (dialog.open && dialog.dataset.kind === kind) return;
  dialog.dataset.kind = kind;
  title.textContent = say(`${kind}.title`);
  lede.textContent = say(`${kind}.lede`);
  place.replaceChildren(card(say(`${kind}.here`), editor.text.value, null));
  keep.textContent = say(`${kind}.leave`);
  main.hidden = go === null;
  main.textContent = say(`${kind}.go`);
  main.onclick = go;
  if (!dialog.open) dialog.showModal();
}

/** Writing goes on elsewhere: say so, and offer to go on here. */
export function fenced() {
  // Opened anew, the page has what was written there since, and offers what was written here beside it.
  byId("finish-dialog", HTMLDialogElement).close();
  told("fenced", () => location.reload());
}

/** @param {string} next the task is not to be written any more; where that is said */
export function closed(next) {
  if (!byId("finish-dialog", HTMLDialogElement).open) told("closed", next ? () => location.assign(next) : null);
}

/** The text is open again. */
export function resumed() {
  if (dialog.open && dialog.dataset.kind === "fenced") dialog.close();
}
