/** Finishing: says what is missing, asks once, sends the last of the text, and goes on. Nothing here is a wall but an empty text. */

import { byId, make } from "../ui/dom.js";
import { editor } from "./shared-state.js";
import { about, goTo, whole, wording } from "./findings.js";
import { kindOf } from "./save-status.js";
import { say } from "../ui/script-messages.js";
import { lengthOf } from "./word-count.js";

const SHOWN = 6;

const dialog = byId("finish-dialog", HTMLDialogElement);
const lede = byId("finish-lede", HTMLElement);
const list = byId("finish-list", HTMLElement);
const progress = byId("finish-progress", HTMLElement);
const confirm = byId("finish-confirm", HTMLButtonElement);
const look = byId("finish-look", HTMLButtonElement);
const keep = byId("finish-keep", HTMLButtonElement);

let under = false;

function describe() {
  const { n, target, length } = lengthOf(editor.text.value);
  const findings = whole();
  const points = [];
  if (length === "short" || length === "long") points.push(say(`finish.${length}`, { n, target }));
  if (length !== "empty" && !editor.reading().cited.size) points.push(say("finish.nothing_cited"));
  for (const finding of findings.slice(0, SHOWN)) points.push(`${wording(finding)} ${about(finding)}`.trim());
  if (findings.length > SHOWN) points.push(say("finish.further", { n: findings.length - SHOWN }));
  list.replaceChildren(...points.map((text) => make("li", { text })));
  list.hidden = points.length === 0;
  lede.textContent = length === "empty" ? say("finish.empty") : points.length ? say("finish.look", { n: points.length }) : say("finish.ready", { n });
  confirm.hidden = length === "empty";
  confirm.textContent = say(points.length ? "finish.anyway" : "finish.yes");
  // A text with faults is better written on than handed in: that is the main button then, and has the focus.
  const [main, other] = points.length || length === "empty" ? [keep, confirm] : [confirm, keep];
  main.classList.add("button--main");
  other.classList.remove("button--main");
  keep.autofocus = main === keep;
  confirm.autofocus = main === confirm;
  look.hidden = findings.length === 0;
  progress.textContent = "";
}

export function open() {
  if (!editor.writing || dialog.open) return;
  if (!under) describe();
  dialog.showModal();
}

/** @param {boolean} on */
function busy(on) {
  under = on;
  confirm.disabled = on;
  confirm.setAttribute("aria-busy", String(on));
}

/** What finishing waits for. @param {import("./log/session.js").State} state */
export function tell(state) {
  if (!under) return;
  const kind = kindOf(state);
  const text = say(kind === "offline" || kind === "problem" ? `finish.waits.${state.phase === "expired" ? "expired" : kind}` : "finish.sending");
  if (progress.textContent !== text) progress.textContent = text;
}

async function send() {
  if (!editor.writing || under) return;
  busy(true);
  tell(editor.writing.state);
  try {
    const done = await editor.writing.finish();
    if ("next" in done) {
      location.assign(done.next);
      return;
    }
    const known = `finish.problem.${done.problem}`;
    // Whoever closed the dialog went back to writing, and knows it.
    if (done.problem === "stopped") progress.textContent = "";
    else progress.textContent = say(known) === known ? say("finish.problem") : say(known);
  } catch {
    progress.textContent = say("finish.problem");
  }
  busy(false);
}

export function start() {
  byId("finish", HTMLButtonElement).addEventListener("click", open);
  confirm.addEventListener("click", send);
  dialog.addEventListener("close", () => {
    if (under) editor.writing?.stopFinishing();
    editor.text.focus({ preventScroll: true });
  });
  look.addEventListener("click", () => {
    dialog.close();
    const [first] = whole();
    if (first) goTo(first);
  });
}
