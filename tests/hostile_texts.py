"""Everything that reads a text of a participant, of a model or of a file, and texts that are made to slow it down.

`tests/test_linear_time.py` and `python -m bench attack` go through both lists. Add each new reader of texts here.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random
from types import SimpleNamespace
from typing import Any

from analysis import typesetter
from analysis.rag import qa_metrics
from analysis.rag.collections import lamp
from analysis.rag.protocols import Document, Query
from analysis.rag.self_preference import bank, bank_builder, replies
from analysis.releases.formats import markup, tabular
from analysis.releases.personal_data import rules
from analysis.reports import latex
from analysis.text import overlap, readability, statements
from analysis.text.words import whole_words
from analysis.writing_process import passage_matches
from annotation.campaign_types import response_layout
from annotation.judging import erasure as judging_erasure
from annotation.llm_judges import injection
from annotation.llm_judges import prompts as judge_prompts
from crowdrag.llm import client as llm_client
from crowdrag.llm.erasure import container_test
from crowdrag.studies.entry import links
from crowdrag.ui import markdown
from writing import erasure as writing_erasure
from writing.corpus import queries
from writing.corpus.imports import json_lines as import_reading
from writing.corpus.imports import trec
from writing.corpus.imports.problems import Problems
from writing.llm_writers import outcomes
from writing.llm_writers import prompts as writer_prompts
from writing.plans import forms
from writing.review.text_difference import difference

Reader = Callable[[str], object]


def _file(text: str) -> Any:
    content = text.encode()
    return SimpleNamespace(name="topics.txt", size=len(content), open=lambda: io.BytesIO(content))


def _reply(text: str) -> object:
    passages = [Document(name, "x", is_helpful=True, author=name, answer=name) for name in ("ours", "theirs")]
    return replies.reading(text, bank.Pair(Query("1", "q", ("ours",), tuple(passages)), *passages, is_ours_first=True))


def _falsified(text: str) -> object:
    query = Query("1", "q", ("a a",), ())
    return bank_builder.falsified(query, Document("p", text, is_helpful=True, author="x", answer="a a"), "b", "x")


def _sources(text: str) -> object:
    return passage_matches.Sources(["one two three four five six seven eight", text]).find(f"{text} and more")


READERS: dict[str, Reader] = {
    "as_latex.escape": latex.escape,
    "answers.f1": lambda text: qa_metrics.f1(text, [text]),
    "answers.number": qa_metrics.number,
    "attacks.neutral_like": lambda text: injection.neutral_like(text, Random(0)),
    "attacks.planted": lambda text: injection.plant(text, "insert", "middle"),
    "bank.stands": lambda text: bank.stands("a a", text),
    "bank.stands (long answer)": lambda text: bank.stands(text, f"x{text} {text}x"),
    "building.falsified": _falsified,
    "building.passage": lambda text: bank_builder._HEADING.search(text),
    "cells.original": tabular.original,
    "cells.safe": tabular.safe,
    "characters.breakable": typesetter.breakable,
    "characters.visible": typesetter.visible,
    "erasing.parts": writing_erasure._SENTENCE_END.split,
    "erasing.container_test": lambda text: container_test([text, *(f"{text}{n}" for n in range(20))])(f"{text}x{text}"),
    "import_reading.parsed": lambda text: import_reading.parse_json(text, Problems(), file="f", line=1),
    "keys": lambda text: llm_client._LIKE_A_KEY.sub("", text),
    "lamp": lambda text: [task.sought.search(text) for task in lamp.TASKS.values()],
    "markdown.render": markdown.render,
    "matching.Sources.find": _sources,
    "occurrences.whole_words": lambda text: list(whole_words(text[: len(text) // 2], f"x{text}x", ignore_case=True)),
    "outcomes.cleaned": outcomes.clean,
    "overlap.Bleu": lambda text: overlap.Bleu(max_order=8).score(text, [text[::-1], "a b"]),
    "platforms": links._PLATFORM_ID.fullmatch,
    "prompts (judges)": judge_prompts.for_models,
    "prompts (writers)": writer_prompts.for_models,
    "prose.code": markup.code,
    "prose.paragraphs": markup.paragraphs,
    "questions.options_of": forms.options_of,
    "quoting": lambda text: list(judging_erasure._runs(text)),
    "readability.count": readability.count,
    "reading.markers": lambda text: queries.MARKERS.sub("", text),
    "replies.rating": replies.rating,
    "replies.reading": _reply,
    "rules.find": rules.find,
    "rules.find (answers)": lambda text: rules.find(
        text, own_answers=("a a a", text[:1000]), known=frozenset({"abcdef"})
    ),
    "rules.may_hold": lambda text: rules.may_hold([text]),
    "showing.blocks": response_layout.blocks,
    "statements.parse": lambda text: statements.parse(text, passages=20),
    "statements.without_markers": statements.without_markers,
    "text_difference": lambda text: difference(text, f"{text[::-1]} more"),
    "text_difference (shifted)": lambda text: difference(text, f"first {text} last"),
    "trec.read_queries": lambda text: list(trec.read_queries(_file(text), Problems())),
}

#: What a hostile text repeats: spaces, stars, brackets, at-signs, quotes, digits, repeated words.
UNITS = (" ", "\n", "*", "**a ", "[", "]", "[1", "@", "a@b.", '"', "'", "7", "7 ", "word ", "a")
#: And all else that patterns may stumble over.
MORE_UNITS = (
    *("[ ", "a@", "a a "),
    *("\n ", "\r\n", "\t", ".", ". ", "A.", "__a ", "_", "`", "<", "<top>", "<num", "<top><num>1<title>x", "{"),
    *("(", "# ", "- ", "1. ", "> ", "![", "[](", ":", "://", "1-", "+1 ", "My name is ", "Aa ", "at ", "a dot "),
    *("regards ", "phone ", "Answer: ", "=", "\\", "|", "\u0315", "\u0315\u0300", "\u3002", "\u4e2d", "é", "\x00"),
)
#: What it begins and ends with: many patterns only go back and forth behind the one, and where the other follows.
BEGINNINGS = ("Answer:", "regards", "my name is", "phone", "1", "**", "[1", "<top>", '[1]: "', "a:", "x\n")
ENDINGS = ("", "x")


def text_of(size: int, *, unit: str, beginning: str = "", ending: str = "") -> str:
    """A hostile text of so many bytes."""
    count = size // len(unit.encode())
    return beginning + unit * count + ending


def marks(size: int) -> str:
    """A letter with so many bytes of combining marks that stand in the wrong order."""
    return "a" + "\u0315" * (size // 4) + "\u0300" * (size // 4)


def seconds(reader: Reader, text: str) -> float:
    """Processor time that a reader takes; what it refuses counts as read."""
    start = time.process_time()
    with suppress(ValueError, LookupError):
        reader(text)
    return time.process_time() - start
