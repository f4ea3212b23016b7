"""Import of a folder in the layout of the published corpus CrowdRAG-25 (docs/guides/import.md)."""

from datetime import datetime
from typing import Any

from django.db import transaction

from crowdrag.studies.models import Study
from writing.corpus.imports import bulk, json_lines
from writing.corpus.imports.importers import Stored
from writing.corpus.imports.problems import Effect, Problems
from writing.corpus.imports.sources import Source

from . import corpus as corpus_
from . import derived_data, judgment_study, response_study
from .corpus import Corpus

__all__ = ["Corpus", "import_corpus", "read", "store"]


def read(source: Source, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> Corpus:
    """Read and check a corpus without touching the database.

    Raises
    ------
    BadInput
        with all problems found.
    """
    corpus = corpus_.read(source, problems, report=report)
    corpus.summary |= derived_data.compare(corpus)
    return corpus


@transaction.atomic
def store(*, study: Study, corpus: Corpus, now: datetime) -> Stored:
    """Store a corpus in one transaction; existing rows stay unchanged.

    Raises
    ------
    BadInput
        if it contradicts the study, or has problems that cannot be set aside.
    """
    problems = corpus.problems.copied()
    bulk.lock_imports(study)
    counts: dict[str, Any] = response_study.store(study=study, corpus=corpus, problems=problems, now=now)
    counts |= judgment_study.store(study=study, corpus=corpus, problems=problems, now=now)
    problems.refuse_any()
    faults = {"set_aside": problems.rows(Effect.SET_ASIDE), "incomplete": problems.rows(Effect.INCOMPLETE)}
    summary = {"made": counts, **faults, "files_not_there": corpus.missing, **corpus.summary}
    return Stored(summary, problems.faults_as_rows())


def import_corpus(
    *,
    study: Study,
    source: Source,
    now: datetime,
    strict: bool = False,
    report: json_lines.Report = json_lines.no_report,
) -> Stored:
    """Read a corpus and store it in a study; `strict` refuses a corpus with problems in single rows."""
    return store(study=study, corpus=read(source, Problems(sets_aside=not strict), report=report), now=now)
