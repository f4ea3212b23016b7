/** Practice: the questions of a questionnaire with their keys and explanations; the form is sent as a form. */

import { Question } from "./questions.js";

const fields = [...document.querySelectorAll("fieldset.question")];
const questions = fields.flatMap((field) => (field instanceof HTMLFieldSetElement ? [new Question(field, 0, 1)] : []));

for (const question of questions) {
  question.element.querySelector("[data-helps]")?.addEventListener("click", () => question.explain());
  question.explain();
}

const current = () =>
  questions.find((each) => each.element.contains(document.activeElement)) ?? questions.find((each) => !each.isComplete);
const mark = () => {
  const marked = current();
  for (const question of questions) question.element.classList.toggle("is-current", question === marked);
};
for (const type of ["focusin", "focusout", "change"]) document.addEventListener(type, () => queueMicrotask(mark));
mark();

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const question = current();
  const key = event.key.toUpperCase();
  const option = question?.options.find((each) => each.getAttribute("aria-keyshortcuts")?.split(" ").includes(key));
  if (!question || !option) return;
  event.preventDefault();
  option.checked = true;
  const next = questions.find((each) => !each.isComplete);
  const send = document.querySelector("main form [type=submit]");
  if (next) next.focus();
  else if (send instanceof HTMLElement) send.focus();
  mark();
});
