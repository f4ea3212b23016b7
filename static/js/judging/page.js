/** The page of a questionnaire: one item at a time, each answer sent as it is given. */

import { start as citations } from "./citations.js";
import { Deadline } from "../assignments/deadline.js";
import { init as dialogs } from "../ui/dialogs.js";
import { debounced } from "../ui/dom.js";
import { announce, say } from "../ui/script-messages.js";
import { init as menus } from "../ui/menus.js";
import { init as theme } from "../ui/theme.js";
import { start as finish } from "./submission.js";
import { Items } from "./items.js";
import { Kept } from "./local-store.js";
import { start as keys } from "./shortcuts.js";
import { start as help } from "./question-help.js";
import { Outbox } from "./outbox.js";
import { start as parts } from "./item-parts.js";
import { find } from "./questions.js";
import { start as reports } from "./problem-report.js";
import { tell, tellLate } from "./save-status.js";
import { find as findUnsure } from "./unsure.js";
import { Times } from "./viewing-times.js";

/** @typedef {import("./questions.js").Question} Question */

const { passages } = document.body.dataset;
const { assignment = "", answer = "", check = "", confidence = "", problem = "", time = "" } = document.body.dataset;

for (const init of [theme, dialogs, menus]) init(document);
const questions = find();
const kept = new Kept(assignment);
const unsure = findUnsure();
const times = new Times(time, follow);
const outbox = new Outbox([...questions, ...unsure], { answer, check, confidence }, kept, times);
const items = new Items(questions);
const deadline = new Deadline(() => times.renew(), tellLate);

/** What an acknowledgement says besides. @param {{lease_until?: string | null, late?: boolean}} facts */
function follow({ lease_until: lease, late: isLate }) {
  if (lease) deadline.move(lease);
  if (isLate) tellLate();
}

/** Take what a question shows now. @param {Question} question */
function changed(question) {
  const { value, why } = question.given();
  // A reason without an answer cannot be stored yet: it is kept here until there is one.
  if (question.why) kept.keep(`why-${question.key}`, value === null && why ? why : null);
  question.tell("");
  question.element.classList.remove("is-wanted");
  const before = outbox.wish(question.key).value;
  // The first answer changes nothing, and neither does writing the reason for one.
  if (value !== null && outbox.give(question.key, value, why) && before !== null && before !== value) times.changed(question.item);
  items.tell();
}

for (const question of questions) {
  const before = outbox.wish(question.key);
  if (before.value !== null) question.show(before);
  else if (question.why) question.why.value ||= kept.read(`why-${question.key}`) ?? "";
  for (const option of question.options) option.addEventListener("change", () => changed(question));
  if (!question.why) continue;
  const written = debounced(() => changed(question), 700);
  question.why.addEventListener("input", written);
  question.why.addEventListener("blur", written.flush);
}

for (const each of unsure) {
  each.show(outbox.wish(each.key));
  each.box.addEventListener("change", () => outbox.give(each.key, Number(each.box.checked), ""));
}

const state = () => tell(outbox.state);
outbox.addEventListener("state", state);
outbox.addEventListener("arrived", (event) => event instanceof CustomEvent && follow(event.detail));
outbox.addEventListener("shown", (event) => {
  if (!(event instanceof CustomEvent)) return;
  const { key, why, message = "" } = event.detail;
  unsure.find((each) => each.key === key)?.show(outbox.wish(key));
  const question = questions.find((each) => each.key === key);
  if (!question) return;
  // Whoever is writing there goes on writing; what they wrote is sent when they rest.
  if (document.activeElement !== question.why) question.show(outbox.wish(key));
  if (why) {
    question.tell(say(why, { message }));
    announce(say(why, { message }));
  }
  items.tell();
});
setInterval(state, 1000);
addEventListener("beforeunload", (event) => {
  if (outbox.state.waiting && !outbox.state.kept) event.preventDefault();
});

items.watch((shown) => times.show(shown));
items.watch(() => questions.forEach((question) => question.tidy()));
const moves = parts(items);
help(questions);
citations(items, passages);
reports(problem, kept);
keys(items, moves, changed);
const tellOpen = finish(items, outbox, times, kept);
outbox.addEventListener("state", () => items.shown === items.finish && tellOpen());
times.start();
deadline.start();
items.start();
state();
void outbox.run();
