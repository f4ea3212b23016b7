"""Outputs of the sample of the published corpus: figures and digests, nothing that its people wrote or are called."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from django.core.management import call_command

from annotation.models import Judgment
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study
from tests.annotation.imports.published_corpora import bring_in
from tests.factories import NOW, StudyFactory
from tests.golden import fixed, outline, readable

#: Few resamples and starts, for speed.
PARAMETERS = {"resamples": 20, "restarts": 3, "refine": 1}
SEED = 1
#: Instead of a chart: only what a report says about it is compared.
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"></svg>'
#: A longer text may be somebody's; those of ours, such as notes, are shorter.
LONGEST_TEXT = 300
#: Ids are shown by their beginning where they are long.
SHORT = 8


def make(corpus: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """Import the corpus, analyse it, and return its tables and the text of its report by part and path."""
    study: Study = StudyFactory(slug="sample", title="Sample", created_at=NOW)
    summary = bring_in(study, corpus)
    results = folder / "results"
    options = [f"--{name}={value}" for name, value in PARAMETERS.items()]
    with (
        mock.patch("vl_convert.vegalite_to_svg", return_value=PICTURE),
        mock.patch("vl_convert.vegalite_to_png", return_value=b""),
    ):
        options = [f"--seed={SEED}", "--with=all", *options]
        call_command("analyse", study.slug, f"--out={results}", *options, stdout=io.StringIO())
    names = Names(study)
    parts = {
        "import": {"summary.json": names.without(fixed.normalised(json.loads(json.dumps(summary))))},
        "tables": {path: names.without(fixed.normalised(value)) for path, value in _tables(results)},
        "report": {
            f"{name}.txt": names.without_lines(fixed.normalised(text)) for name, text in _texts(results)
        },
    }  # fmt: skip
    names.check(parts)
    return parts


def _tables(results: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(results.glob("*.json")):
        yield path.name, json.loads(path.read_text())


def _texts(results: Path) -> Iterator[tuple[str, str]]:
    yield "report.html", readable.html((results / "report.html").read_bytes())
    yield "methods.tex", (results / "methods.tex").read_text()
    yield "README.md", (results / "README.md").read_text()


class Names:
    """What a sample calls its people, responses, topics and passages, and what they wrote: none of it is kept."""

    def __init__(self, study: Study) -> None:
        people = study.participants.exclude(kind=ParticipantKind.MODEL)
        names: set[str] = set()
        for rows in (people, study.responses, study.topics, study.passages):
            names.update(rows.values_list("external_id", flat=True))
        self._ids = names
        texts = [*study.topics.values_list("query", flat=True), *study.responses.values_list("text", flat=True)]
        texts += study.passages.values_list("text", flat=True)
        texts += Judgment.objects.of_study(study).exclude(justification="").values_list("justification", flat=True)
        self._texts = [text for text in texts if text]
        # Short ids, such as numbers, are looked for where they fill a cell alone.
        shown = {each for name in names if len(name) > SHORT for each in (name, f"{name[:SHORT]}…")}
        self._shown = re.compile("|".join(map(re.escape, sorted(shown, key=len, reverse=True))) or r"(?!)")

    def without(self, value: Any) -> Any:
        """Return JSON with each list of rows that names somebody or something as its outline, of which none shows."""
        if isinstance(value, dict):
            return {key: self.without(each) for key, each in value.items()}
        if not isinstance(value, list):
            return value
        if not any(self._tells(each) for each in value):
            return value
        rows = value if all(isinstance(each, dict) for each in value) else [{"value": each} for each in value]
        return outline.outline(rows, shown=0)

    def without_lines(self, text: str) -> str:
        """Return a text in which the lines that name somebody or something are digests."""
        return "".join(
            f"<a line that names what is not kept: {outline.digest(line)}>\n" if self._names(line) else f"{line}\n"
            for line in text.splitlines()
        )

    def check(self, value: Any) -> None:
        """Fail if anything of the sample is left: it must not be stored."""
        for text in _strings(value):
            assert text not in self._ids, "An id of the sample would be stored"
            assert not self._shown.search(text), "An id of the sample would be stored"
            assert not any(each in text for each in self._texts), "A text of the sample would be stored"

    def _tells(self, value: Any) -> bool:
        return any(text in self._ids or len(text) > LONGEST_TEXT or self._names(text) for text in _strings(value))

    def _names(self, text: str) -> bool:
        cells = {cell.strip() for cell in text.split("|")}
        return bool(self._shown.search(text)) or not cells.isdisjoint(self._texts)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from [value, *value.splitlines()]
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
