/**
 * What a question means: on demand at each question. For the first item it is open: on a wide screen in a place of its own
 * that shows the marked question's, so that nothing moves; elsewhere below each question.
 */

import { wide } from "./items.js";

/** @typedef {import("./questions.js").Question} Question */

const place = document.getElementById("explained");

/** @param {Question[]} questions */
export function start(questions) {
  for (const question of questions) {
    question.element.querySelector("[data-helps]")?.addEventListener("click", () => question.explain());
    if (!wide.matches && question.number === 1) question.explain();
  }
}

/** @param {Question | undefined} question the marked one; none once all are answered */
export function show(question) {
  if (place) place.textContent = (question?.number === 1 && question.help?.textContent) || "";
}
