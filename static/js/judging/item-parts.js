/** From one part of an item to another: the responses and the questions, each where one left it. For small screens, and for keys. */

const PARTS = ["a", "b", "one", "questions"];

/** @param {import("./items.js").Items} items */
export function start(items) {
  const bar = [...document.querySelectorAll("button[data-goes]")].filter((each) => each instanceof HTMLElement);
  /** Where in the page one was in each part, in pixels from its top. @type {Map<string, number>} */
  let left = new Map();
  /** @type {Element | null} what had the focus among the questions */
  let asked = null;

  /** @returns {HTMLElement[]} */
  const parts = () => [...items.shown.querySelectorAll("[data-part]")].filter((each) => each instanceof HTMLElement);
  /** @param {HTMLElement} part */
  const name = (part) => part.dataset.part ?? "";
  /** The part that fills most of the screen. */
  const at = () => {
    const seen = (/** @type {HTMLElement} */ part) => {
      const { top, bottom } = part.getBoundingClientRect();
      return Math.min(bottom, innerHeight) - Math.max(top, 0);
    };
    const shown = parts().filter((part) => part.getClientRects().length);
    return shown.reduce((best, part) => (seen(part) > seen(best) ? part : best), shown[0] ?? parts()[0]);
  };
  const mark = () => {
    const here = parts().length ? name(at()) : "";
    for (const button of bar) button.toggleAttribute("aria-current", button.dataset.goes === here);
    for (const button of bar) if (button.dataset.goes === here) button.setAttribute("aria-current", "true");
  };
  /** @param {string} to */
  const go = (to) => {
    const target = parts().find((part) => name(part) === to);
    if (!target) return;
    const from = at();
    left.set(name(from), -from.getBoundingClientRect().top);
    // Of two texts a phone shows one: the other's button brings it here (judging.css).
    if (to !== "questions" && target.parentElement) target.parentElement.dataset.tab = to;
    if (to === "questions" && asked instanceof HTMLElement && target.contains(asked)) asked.focus({ preventScroll: true });
    else target.focus({ preventScroll: true });
    const bars = document.querySelector(".judging-bar")?.clientHeight ?? 0;
    const inside = Math.max(left.get(to) ?? -bars - 8, -bars - 8);
    scrollTo({ top: scrollY + target.getBoundingClientRect().top + inside });
    mark();
  };
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && target.closest("[data-part=questions]") && target.matches("input, textarea")) asked = target;
  });
  for (const button of bar) button.addEventListener("click", () => go(button.dataset.goes ?? ""));
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      mark();
    });
  };
  for (const type of ["scroll", "resize"]) addEventListener(type, soon, { passive: true });
  items.watch(() => {
    left = new Map();
    asked = null;
    mark();
  });
  return {
    /** To the next part, and around. @param {number} by */
    cycle(by) {
      const names = PARTS.filter((each) => parts().some((part) => name(part) === each));
      if (!names.length) return;
      const focused = document.activeElement?.closest("[data-part]");
      const here = focused instanceof HTMLElement ? names.indexOf(name(focused)) : by > 0 ? -1 : 0;
      go(names[(here + by + names.length) % names.length]);
    },
  };
}
