/** Parses texts for test_statements.py; offsets in code points, as Python counts. */

import { countWords, parse, points } from "../../../static/js/editor/statements.js";
import { answer } from "../json_lines.js";

answer(({ texts, passages }) =>
  texts.map((/** @type {string} */ text) => {
    const { statements, dropped, repeated } = parse(text, passages);
    const at = (/** @type {number} */ offset) => points(text, offset);
    const spans = statements.map((s) => [
      at(s.start), at(s.end), s.body, s.closing, s.citations, at(s.markerStart), at(s.markerEnd),
    ]);
    return [spans, dropped, repeated, countWords(text)];
  }),
);
