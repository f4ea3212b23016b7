/** Whether the answers are saved: "saved" only when the server has acknowledged every one. Spoken only when it matters. */

import { byId } from "../ui/dom.js";
import { announce, say } from "../ui/script-messages.js";

// Saving that lasts longer than this is said with how long it has lasted.
const LONG = 8_000;

const place = byId("save-state", HTMLElement);
const words = byId("save-words", HTMLElement);
// What a phone shows instead: words only where something is the matter (judging-progress.css).
const short = byId("save-short", HTMLElement);
const CALM = ["opening", "saved", "saving"];
const closed = byId("closed", HTMLElement);

let spoken = "saved";

/** @param {import("./outbox.js").State} state */
export function tell(state) {
  const trouble = !["saved", "closed"].includes(state.phase) && !state.kept;
  const kind = trouble ? "unkept" : state.phase;
  const text = kind === "saving" && state.since > LONG ? say("save.waiting", { n: Math.round(state.since / 1000) }) : say(`save.${kind}`);
  place.dataset.state = kind;
  if (words.textContent !== text) words.textContent = text;
  short.textContent = CALM.includes(kind) ? "" : say(`save.${kind}.short`);
  place.title = say(`save.${kind}.more`);
  if (kind === "closed") close(state);
  // Saving and saved alternate with every answer: a screen reader is told of what is out of the ordinary, and of its end.
  if (kind !== "saving" && kind !== spoken) {
    spoken = kind;
    announce(`${text}. ${place.title}`);
  }
}

/** @param {import("./outbox.js").State} state */
function close(state) {
  if (!closed.hidden) return;
  const name = state.left ? "withdrawn" : "closed";
  byId("closed-title", HTMLElement).textContent = say(`${name}.title`);
  byId("closed-text", HTMLElement).textContent = say(`${name}.text`);
  const next = byId("closed-next", HTMLAnchorElement);
  next.textContent = say("closed.go");
  // Only a path of this server is led to.
  if (state.next.startsWith("/") && !state.next.startsWith("//")) next.href = state.next;
  closed.hidden = false;
  for (const each of document.querySelectorAll("fieldset.question, [data-unsure], #hand-in")) each.setAttribute("disabled", "");
  closed.focus();
}

const late = byId("late", HTMLElement);

/** The time is over: say so, once. */
export function tellLate() {
  if (!late.hidden) return;
  byId("late-words", HTMLElement).textContent = say("late");
  late.hidden = false;
}
