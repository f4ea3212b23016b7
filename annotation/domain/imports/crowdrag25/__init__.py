"""Import of a folder in the layout of the published corpus CrowdRAG-25 (docs/guides/import.md)."""

from datetime import datetime
from typing import Any

from django.db import transaction

from crowdrag.studies.models import Study
from writing.domain.imports import reading, storing
from writing.domain.imports.problems import Problems
from writing.domain.imports.sources import Source

from . import corpus as corpus_
from . import judging_part, published, writing_part
from .corpus import Corpus

__all__ = ["Corpus", "import_corpus", "read", "store"]


def read(source: Source, problems: Problems | None = None, *, report: reading.Report = reading.silent) -> Corpus:
    """Read and check a corpus without touching the database.

    Raises
    ------
    BadInput
        with everything that is wrong with it.
    """
    corpus = corpus_.read(source, problems or Problems(), report=report)
    corpus.summary |= published.compare(source, corpus)
    return corpus


@transaction.atomic
def store(*, study: Study, corpus: Corpus, now: datetime) -> dict[str, Any]:
    """Store a corpus, whole or not at all; what is there already is left alone. Return a summary.

    Raises
    ------
    BadInput
        if it refers to what is not there, or contradicts what the study holds.
    """
    problems = Problems()
    storing.hold(study)
    counts: dict[str, Any] = writing_part.store(study=study, corpus=corpus, problems=problems, now=now)
    counts |= judging_part.store(study=study, corpus=corpus, problems=problems, now=now)
    return {"made": counts, "files_not_there": corpus.missing, **corpus.summary}


def import_corpus(
    *, study: Study, source: Source, now: datetime, report: reading.Report = reading.silent
) -> dict[str, Any]:
    """Read a corpus and store it in a study."""
    return store(study=study, corpus=read(source, report=report), now=now)
