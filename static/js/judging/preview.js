/** The page of a questionnaire, to be tried out: everything moves as it does for a judge, and nothing is sent or kept. */

import { init as dialogs } from "../ui/dialogs.js";
import { init as menus } from "../ui/menus.js";
import { init as theme } from "../ui/theme.js";
import { start as citations } from "./citations.js";
import { Items } from "./items.js";
import { start as keys } from "./shortcuts.js";
import { start as help } from "./question-help.js";
import { start as parts } from "./item-parts.js";
import { find } from "./questions.js";

for (const init of [theme, dialogs, menus]) init(document);
const questions = find();
const items = new Items(questions);
const changed = () => items.tell();

for (const question of questions) {
  for (const option of question.options) option.addEventListener("change", changed);
  question.why?.addEventListener("input", changed);
}
help(questions);
citations(items);
keys(items, parts(items), changed);
items.start();
