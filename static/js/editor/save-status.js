/** Whether the text is saved: "saved" only when the server has acknowledged everything. Spoken only when it matters. */

import { byId } from "../ui/dom.js";
import { announce, say } from "../ui/script-messages.js";

// Saving that lasts longer than this is said with how long it has lasted.
const LONG = 8_000;

const place = byId("save-state", HTMLElement);
const words = byId("save-words", HTMLElement);

/** @param {import("./log/session.js").State} state @returns {"opening" | "saved" | "saving" | "offline" | "problem" | "fenced"} */
export function kindOf(state) {
  if (state.phase === "fenced") return "fenced";
  if (state.phase === "expired" || state.phase === "closed") return "problem";
  if (state.offline) return "offline";
  if (state.problem) return "problem";
  if (state.phase === "opening") return "opening";
  return state.saved && state.unacked === 0 ? "saved" : "saving";
}

/** @param {string} kind @param {import("./log/session.js").State} state @returns {string} what it means, and what to do */
function reason(kind, state) {
  if (state.phase === "opening" && kind !== "opening") return say("save.unopened");
  if (kind !== "problem") return say(`save.${kind}.more`);
  if (state.phase === "expired" || state.phase === "closed") return say(`save.problem.${state.phase}`);
  const known = `save.problem.${state.problem}`;
  return say(known) === known ? say("save.problem.more") : say(known);
}

let spoken = "saved";

/** @param {import("./log/session.js").State} state */
export function tell(state) {
  const kind = kindOf(state);
  place.dataset.state = kind;
  const text = kind === "saving" && state.since > LONG ? say("save.waiting", { n: Math.round(state.since / 1000) }) : say(`save.${kind}`);
  if (words.textContent !== text) words.textContent = text;
  place.title = reason(kind, state);
  // Saving and saved alternate with every word: a screen reader is told only of what is out of the ordinary, and of its end.
  const quiet = kind === "saving" || kind === "opening";
  if (!quiet && kind !== spoken) {
    spoken = kind;
    announce(`${text}. ${place.title}`);
  }
}

/** Say it now, as somebody asked for it. */
export function speak() {
  announce(`${words.textContent}. ${place.title}`);
}
