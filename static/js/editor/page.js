/** The editor's page: starts its parts, then the session. Until that is open, the text field is closed and nothing is recorded. */

import { Deadline } from "../assignments/deadline.js";
import { init as dialogs } from "../ui/dialogs.js";
import { init as menus } from "../ui/menus.js";
import { init as theme } from "../ui/theme.js";
import { closed, fenced, offer, resumed } from "./branches.js";
import { start as citationMarks } from "./citation-marks.js";
import { start as divider } from "./pane-divider.js";
import { editor } from "./shared-state.js";
import { byId } from "../ui/dom.js";
import { start as dwell } from "./dwell.js";
import { start as findings } from "./findings.js";
import { start as finish, tell as tellFinish } from "./submission.js";
import { cite, recordTyped } from "./citation-insertion.js";
import { start as keyboard } from "./screen-keyboard.js";
import { start as keys } from "./shortcuts.js";
import { startWriting } from "./log/session.js";
import { start as lower } from "./lower-pane.js";
import { oneAtATime, start as panes } from "./panes.js";
import { start as passages } from "./passages.js";
import { start as preview } from "./preview.js";
import { tell as tellSaving } from "./save-status.js";
import { start as search } from "./passage-search.js";
import { start as suggest } from "./passage-suggestions.js";
import { start as words } from "./word-count.js";

const { session = "", finish: finishing = "", task = "" } = document.body.dataset;

const late = byId("late", HTMLElement);
const deadline = new Deadline(async () => (await editor.writing?.renew()) ?? false, () => { late.hidden = false; });

let opened = false;

/** @param {import("./log/session.js").State} state */
function follow(state) {
  tellSaving(state);
  tellFinish(state);
  if (state.phase === "fenced") fenced();
  else resumed();
  if (state.phase === "closed") closed(state.next);
  if (state.phase !== "writing" || opened) return;
  opened = true;
  // On a phone the focus would bring the keyboard up over what is to be read first.
  if (!oneAtATime() && document.activeElement === document.body) editor.text.focus({ preventScroll: true });
}

async function start() {
  for (const init of [theme, dialogs, menus]) init(document);
  for (const each of [panes, divider, citationMarks, dwell, search, suggest, findings, preview, lower, words, finish, keyboard, keys]) each();
  passages((rank) => cite(rank, "button"));
  recordTyped();
  const writing = await startWriting({ textarea: editor.text, urls: { session, finish: finishing }, task });
  writing.addEventListener("state", (event) => event instanceof CustomEvent && follow(event.detail));
  writing.addEventListener("others", (event) => event instanceof CustomEvent && offer(event.detail));
  writing.addEventListener("text", () => editor.changed());
  writing.addEventListener("lease", (event) => {
    if (!(event instanceof CustomEvent)) return;
    late.hidden = true;
    deadline.move(event.detail);
  });
  editor.begin(writing);
  deadline.start();
  follow(writing.state);
}

void start();
