/** Plays changes for test_key_frames.py: the texts after so many of them, in the order in which they are asked for. */

import { Film, textOf } from "../../../static/js/replay/text-timeline.js";
import { answer } from "../json_lines.js";

answer(({ changes, arrivals, order }) => {
  const film = new Film(changes, arrivals, 4);
  return order.map((/** @type {number} */ index) => textOf(film.at(index)));
});
