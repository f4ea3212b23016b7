/** The text as it will be read: its statements, each with its citations as links to the passages. Drawn while it is shown. */

import { byId, debounced, make } from "../ui/dom.js";
import { editor } from "./shared-state.js";
import { bring, setAtHand, visit } from "./passages.js";
import { oneAtATime } from "./panes.js";
import { say } from "../ui/script-messages.js";

const QUIET = 250;

const panel = byId("preview", HTMLElement);
const body = byId("preview-text", HTMLElement);
const peek = byId("peek", HTMLElement);
const peekTitle = byId("peek-title", HTMLElement);
const peekText = byId("peek-text", HTMLElement);

/** @type {HTMLElement | null} */
let shownFor = null;
let drawn = "";

/** @param {import("./shared-state.js").Reading} reading @returns {Node[]} */
function pieces(reading) {
  /** @type {Node[]} */
  const nodes = [];
  let from = 0;
  for (const statement of reading.statements) {
    nodes.push(document.createTextNode(reading.value.slice(from, statement.start)));
    const cited = statement.citations.length > 0;
    const span = make("span", { class: `statement${cited ? "" : " statement--uncited"}`, text: statement.body });
    nodes.push(span);
    if (statement.markerEnd > statement.markerStart) {
      nodes.push(document.createTextNode(reading.value.slice(statement.end, statement.markerStart)));
      const links = statement.citations.map((rank) =>
        make("button", { class: "cite", text: `[${rank}]`, attributes: { type: "button", "data-number": String(rank), "aria-label": say("passage", { rank }), "aria-describedby": `passage-text-${rank}` } }),
      );
      if (!cited) links.push(/** @type {any} */ (make("span", { class: "cite cite--dropped", text: reading.value.slice(statement.markerStart, statement.markerEnd) })));
      nodes.push(...links);
    }
    from = statement.markerEnd;
  }
  nodes.push(document.createTextNode(reading.value.slice(from)));
  return nodes;
}

/** @param {import("./shared-state.js").Reading} reading */
function draw(reading) {
  if (panel.hidden || drawn === reading.value) return;
  drawn = reading.value;
  close();
  body.replaceChildren(...(reading.value.trim() ? pieces(reading) : [make("span", { class: "soft", text: say("preview.empty") })]));
}

function close() {
  peek.hidden = true;
  shownFor?.classList.remove("is-active");
  shownFor = null;
}

/** @param {HTMLElement} link */
function open(link) {
  if (shownFor === link) return;
  close();
  const rank = Number(link.dataset.number);
  shownFor = link;
  link.classList.add("is-active");
  peekTitle.textContent = say("passage", { rank });
  peekText.textContent = editor.passageText(rank);
  peek.dataset.rank = String(rank);
  peek.hidden = false;
  peekText.scrollTop = 0;
  const [at, frame] = [link.getBoundingClientRect(), panel.getBoundingClientRect()];
  const left = Math.max(8, Math.min(at.left, Math.min(frame.right, window.innerWidth - 8) - peek.offsetWidth));
  const above = at.top - peek.offsetHeight - 4;
  peek.style.left = `${left}px`;
  peek.style.top = `${above > 8 ? above : Math.min(at.bottom + 4, window.innerHeight - peek.offsetHeight - 8)}px`;
  setAtHand(rank);
  if (!oneAtATime()) bring(rank);
}

/** @returns {boolean} whether the preview is shown now */
export const isShown = () => !panel.hidden;

/** Draw it again, as it has just been shown. */
export function refresh() {
  draw(editor.reading());
}

export function start() {
  const later = debounced(refresh, QUIET);
  editor.watch(later);
  /** @param {Event} event */
  const linkOf = (event) => {
    const link = event.target instanceof Element ? event.target.closest("button.cite") : null;
    return link instanceof HTMLElement ? link : null;
  };
  for (const type of ["mouseover", "focusin", "click"]) {
    body.addEventListener(type, (event) => {
      const link = linkOf(event);
      if (link) open(link);
    });
  }
  // It stays while the pointer or the focus is on the marker or on itself; Escape closes it (WCAG 1.4.13).
  const away = debounced(() => {
    const held = [peek, shownFor].some((each) => each?.matches(":hover, :focus, :focus-within"));
    if (!held) close();
  }, 200);
  for (const element of [body, peek]) {
    element.addEventListener("mouseleave", away);
    element.addEventListener("focusout", away);
  }
  body.addEventListener("mouseout", away);
  panel.addEventListener("scroll", close, { passive: true });
  document.addEventListener("pointerdown", (event) => {
    if (event.target instanceof Element && !peek.contains(event.target) && !event.target.closest("button.cite")) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || peek.hidden) return;
    event.preventDefault();
    const link = shownFor;
    close();
    if (peek.contains(document.activeElement)) link?.focus();
  });
  byId("peek-visit", HTMLButtonElement).addEventListener("click", () => {
    const rank = Number(peek.dataset.rank);
    close();
    visit(rank);
  });
}
