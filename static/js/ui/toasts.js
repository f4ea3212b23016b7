/**
 * Short messages that come while the page stands. A server may send one with any HTMX answer:
 * `HX-Trigger: {"toast": {"text": "Saved.", "tone": "good"}}`.
 */

import { all, delegate } from "./event-delegation.js";

/** @typedef {"good" | "info" | "warn" | "bad"} Tone */

// What went well may go by itself; what one has to act on stays until it is closed (WCAG 2.2.1).
const LASTS = 6000;

/**
 * Show a message; the same text twice is shown once.
 * @param {string} text
 * @param {Tone} [tone]
 * @param {{href: string, label: string}} [action] a link to what can be done about it
 */
export function toast(text, tone = "info", action) {
  const place = document.getElementById("toasts");
  if (!place) return;
  for (const old of place.children) if (old instanceof HTMLElement && old.dataset.text === text) old.remove();
  const note = document.createElement("div");
  note.className = `note note--${tone} toast`;
  note.dataset.text = text;
  if (tone === "bad") note.setAttribute("role", "alert");
  const body = document.createElement("div");
  body.textContent = text;
  if (action) {
    const link = document.createElement("a");
    link.href = action.href;
    link.textContent = action.label;
    body.append(" ", link);
  }
  const close = document.createElement("button");
  close.type = "button";
  close.className = "button button--quiet button--small button--icon toast-close";
  close.setAttribute("aria-label", "Close this message");
  close.textContent = "\u00d7";
  note.append(body, close);
  place.append(note);
  if (tone === "good" || tone === "info") leaveLater(note);
}

/** Remove a message after a while, but not while somebody is at it. @param {HTMLElement} note */
function leaveLater(note) {
  setTimeout(() => {
    if (note.matches(":hover, :focus-within")) leaveLater(note);
    else note.remove();
  }, LASTS);
}

/** Where the focus was before it went to a message. @type {WeakMap<Element, HTMLElement>} */
const cameFrom = new WeakMap();

/** @param {HTMLElement} note */
function close(note) {
  const isInside = note.contains(document.activeElement);
  note.remove();
  if (isInside) cameFrom.get(note)?.focus();
}

/** @param {Document} root @returns {() => void} */
export function init(root) {
  /** @param {any} event */
  const sent = (event) => {
    const { text, tone } = event.detail ?? {};
    if (typeof text === "string") toast(text, tone);
  };
  root.addEventListener("toast", sent);
  return all(
    () => root.removeEventListener("toast", sent),
    delegate(root, "focusin", ".toast", (note, event) => {
      const { relatedTarget } = event;
      if (relatedTarget instanceof HTMLElement && !note.contains(relatedTarget)) cameFrom.set(note, relatedTarget);
    }),
    delegate(root, "click", ".toast-close", (button) => {
      const note = button.closest(".toast");
      if (note instanceof HTMLElement) close(note);
    }),
    delegate(root, "keydown", ".toast", (note, event) => {
      if (event.key === "Escape") close(note);
    }),
  );
}
