/**
 * Citations: one that is pointed at, focused or tapped marks the same source in both texts, and shows the passage where the
 * campaign shows passages. One of a text is in the order of Tab; arrow keys lead to the others.
 */

import { make } from "../ui/dom.js";
import { say } from "../ui/script-messages.js";

// Whoever goes from a number to its passage crosses what is between them.
const LINGER = 300;
const GAP = 6;

/** @param {Element} cite @returns {string[]} */
const numbers = (cite) => cite.textContent?.match(/\d+/g) ?? [];

/**
 * @param {import("./items.js").Items} items
 * @param {string} [url] of an item's passages, with 0 for the item; none where they are not shown
 */
export function start(items, url) {
  const card = document.getElementById("passage");
  /** @type {Map<number, Promise<Record<string, string> | null>>} */
  const loaded = new Map();
  /** @type {HTMLElement | null} */
  let current = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let leaving;

  /** @param {number} item @returns {Promise<Record<string, string> | null>} null where they could not be had */
  const passages = (item) => {
    const known = loaded.get(item);
    if (known) return known;
    const asked = fetch((url ?? "").replace("/0/", `/${item}/`), { headers: { Accept: "application/json" } })
      .then(async (response) => (response.ok ? (await response.json()).passages : null))
      .catch(() => null);
    loaded.set(item, asked);
    asked.then((texts) => texts ?? loaded.delete(item));
    return asked;
  };

  const hide = () => {
    current = null;
    for (const each of document.querySelectorAll(".judging-cite.is-same")) each.classList.remove("is-same");
    if (card) card.hidden = true;
  };

  /** @param {HTMLElement} cite */
  const place = (cite) => {
    if (!card) return;
    const at = cite.getBoundingClientRect();
    const below = innerHeight - at.bottom > card.offsetHeight + GAP || at.top < card.offsetHeight + GAP;
    card.style.insetBlockStart = `${below ? at.bottom + GAP : at.top - card.offsetHeight - GAP}px`;
    card.style.insetInlineStart = `${Math.max(8, Math.min(at.left, innerWidth - card.offsetWidth - 8))}px`;
  };

  /** @param {HTMLElement} cite */
  const show = async (cite) => {
    clearTimeout(leaving);
    if (cite === current) return;
    hide();
    current = cite;
    const named = numbers(cite);
    for (const each of items.shown.querySelectorAll(".judging-cite")) {
      each.classList.toggle("is-same", numbers(each).some((number) => named.includes(number)));
    }
    if (!url || !card) return;
    /** @param {Node[]} parts */
    const fill = (parts) => {
      card.replaceChildren(...parts);
      card.hidden = false;
      place(cite);
    };
    const waits = setTimeout(() => current === cite && fill([make("p", { text: say("passage.loading") })]), 200);
    const texts = await passages(Number(items.shown.dataset.item));
    clearTimeout(waits);
    if (current !== cite) return;
    if (!texts) return fill([make("p", { text: say("passage.failed") })]);
    fill(
      named.map((number) => {
        const text = texts[number] ?? say("passage.missing");
        return make("p", { attributes: { dir: "auto" } }, make("strong", { text: `[${number}] ` }), document.createTextNode(text));
      }),
    );
  };

  /** @param {EventTarget | null} target @returns {HTMLElement | null} */
  const citeOf = (target) => (target instanceof Element ? target.closest(".judging-cite") : null);
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const cite = citeOf(event.target);
    if (cite) void show(cite);
    else if (current && event.target instanceof Node && card?.contains(event.target)) clearTimeout(leaving);
    else if (current && current !== document.activeElement) {
      clearTimeout(leaving);
      leaving = setTimeout(hide, LINGER);
    }
  });
  document.addEventListener("click", (event) => {
    const cite = citeOf(event.target);
    if (cite) void show(cite);
    else if (current && !(event.target instanceof Node && card?.contains(event.target))) hide();
  });
  document.addEventListener("focusin", (event) => {
    const cite = citeOf(event.target);
    if (cite) void show(cite);
    else if (current) hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && current) return hide();
    const cite = citeOf(event.target);
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!cite || !by) return;
    const all = [...(cite.closest("[data-part]")?.querySelectorAll(".judging-cite") ?? [])];
    const next = all[all.indexOf(cite) + by];
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    cite.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  addEventListener("scroll", () => current && card && !card.hidden && place(current), { passive: true, capture: true });

  items.watch((shown) => {
    hide();
    for (const part of shown.querySelectorAll("[data-part]")) {
      part.querySelectorAll(".judging-cite").forEach((cite, n) => {
        if (!(cite instanceof HTMLElement) || cite.hasAttribute("tabindex")) return;
        cite.tabIndex = n === 0 ? 0 : -1;
        cite.setAttribute("role", "button");
        if (url) cite.setAttribute("aria-describedby", "passage");
      });
    }
  });
}
