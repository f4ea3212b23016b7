/**
 * Keys of the page. The key that a label shows answers the question that is marked: the one with the focus, or else the first
 * open one of the item. Letters and digits can be switched off (speech input types letters; WCAG 2.1.4); F keys stay, and so
 * do digits while a question has the focus. The list is in the help dialog.
 */

import { byId } from "../ui/dom.js";
import { show as explain } from "./question-help.js";

const STORED = "crowdrag-judging-letters";

/** @typedef {import("./questions.js").Question} Question */

/**
 * @param {import("./items.js").Items} items
 * @param {{cycle: (by: number) => void}} parts
 * @param {(question: Question) => void} changed
 */
export function start(items, parts, changed) {
  const help = byId("help", HTMLDialogElement);
  const singlesOn = byId("letters", HTMLInputElement);
  /** Which keys give an answer: the server's own list, on each radio button. @type {Map<HTMLInputElement, string[]>} */
  const keysOf = new Map();
  for (const { options } of items.questions) {
    for (const option of options) keysOf.set(option, (option.getAttribute("aria-keyshortcuts") ?? "").toLowerCase().split(" "));
  }
  try {
    singlesOn.checked = localStorage.getItem(STORED) !== "off";
  } catch {
    // Storage may be forbidden: then it holds until the page is left.
  }
  const show = () => {
    document.body.classList.toggle("has-no-letters", !singlesOn.checked);
    for (const [option, keys] of keysOf) {
      if (singlesOn.checked) option.setAttribute("aria-keyshortcuts", keys.join(" ").toUpperCase());
      else option.removeAttribute("aria-keyshortcuts");
    }
    mark();
  };
  singlesOn.addEventListener("change", () => {
    try {
      localStorage.setItem(STORED, singlesOn.checked ? "on" : "off");
    } catch {
      // As above.
    }
    show();
  });

  /** @returns {Question | undefined} the one with the focus */
  const focused = () => items.asked.find((each) => each.element.contains(document.activeElement));
  /** @returns {Question | undefined} the one that a key answers */
  const current = () => focused() ?? (singlesOn.checked ? items.asked.find((each) => !each.isComplete) : undefined);
  const mark = () => {
    if (!items.shown) return; // nothing is shown yet
    const marked = current();
    for (const question of items.questions) question.element.classList.toggle("is-current", question === marked);
    explain(marked ?? (items.asked.every((each) => each.isComplete) ? undefined : items.asked[0]));
  };
  for (const type of ["focusin", "focusout", "change"]) document.addEventListener(type, () => queueMicrotask(mark));
  items.watch(mark);

  /** @type {Record<string, (back: boolean) => void>} */
  const keys = {
    F2: () => help.showModal(),
    F6: (back) => parts.cycle(back ? -1 : 1),
    F8: () => items.open(),
    F9: (back) => items.move(back ? -1 : 1),
  };
  /** @type {Record<string, () => void>} */
  const singles = {
    "?": () => help.showModal(),
    h: () => current()?.explain(),
    j: () => items.move(1),
    k: () => items.move(-1),
    o: () => items.open(),
    r: () => parts.cycle(1),
  };

  /** @param {string} key @returns {boolean} whether it was an answer */
  const answers = (key) => {
    const question = current();
    if (!question || question.element.disabled) return false;
    if (!singlesOn.checked && !/^[1-9]$/.test(key)) return false;
    const option = question.options.find((each) => keysOf.get(each)?.includes(key));
    if (!option) return false;
    option.checked = true;
    option.focus();
    changed(question);
    advance(question);
    return true;
  };

  /** To what is next to be answered here; to the button that goes on, where nothing is. @param {Question} question */
  const advance = (question) => {
    if (!question.isComplete) return question.focus();
    const asked = items.asked;
    const at = asked.indexOf(question);
    const next = [...asked.slice(at + 1), ...asked.slice(0, at)].find((each) => !each.isComplete);
    if (next) next.focus();
    else toNext();
  };
  const toNext = () => {
    const on = items.shown.querySelector("button[data-moves='1']");
    if (on instanceof HTMLElement) on.focus({ preventScroll: true });
  };

  // Who answers by pressing buttons gets to the one that goes on with the last answer; arrow keys stay in their question.
  let pressed = false;
  let wasOpen = false;
  addEventListener("keydown", () => (pressed = false), { capture: true });
  addEventListener(
    "pointerdown",
    () => {
      pressed = true;
      wasOpen = items.asked.some((each) => !each.isComplete);
    },
    { capture: true },
  );
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.type !== "radio" || !pressed || !wasOpen) return;
    if (items.asked.every((each) => each.isComplete)) toNext();
  });

  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.isComposing || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const writes = target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && !["radio", "checkbox"].includes(target.type));
    const single = key.toLowerCase();
    if (key in keys) keys[key](event.shiftKey);
    else if (writes) return;
    else if (!event.shiftKey && answers(single)) event.preventDefault();
    else if (singlesOn.checked && single in singles) singles[single]();
    else return;
    event.preventDefault();
  });
  show();
}
