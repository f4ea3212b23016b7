"""Sample data for a new study: the texts of the demo, judged by the simulated crowd and analysed.

One run stores the texts. The simulated judgments and the analysis follow as further runs, each started in the
transaction that ends the run before.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.campaign_types import default_dimensions
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies import page_language
from crowdrag.studies.models import Participant, Study, User
from writing.corpus import versions
from writing.corpus.imports import importers, json_lines, sources
from writing.corpus.imports.importers import Importer, Inputs
from writing.corpus.imports.problems import Problems
from writing.models import Topic

from . import setup, texts

KIND: Final = "demo.sample"


class StudyNotEmptyError(ValueError):
    """The study already has data, which must not be mixed with sample data."""

    def __init__(self) -> None:
        super().__init__("This study has topics already. Create another study to try it with sample data.")


@transaction.atomic
def start(*, study: Study, by: User | None, now: datetime | None = None) -> Run:
    """Copy the sample into a study, and mark the study as simulated. A repeated call returns the same run.

    Raises
    ------
    StudyNotEmptyError
        If the study has topics that are not in the sample.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    ended_early = (RunState.FAILED, RunState.CANCELLED)
    earlier = study.runs.filter(kind=KIND).exclude(state__in=ended_early).order_by("id").first()
    if earlier is not None:
        return earlier
    if Topic.objects.filter(study=study).exists():
        raise StudyNotEmptyError
    study.is_simulated = True
    study.save(update_fields=["is_simulated"])
    return lifecycle.start(study=study, kind=KIND, by=by, now=now)


@dataclass(frozen=True)
class _Read:
    importer: Importer
    content: Any


def store_sample(work: kinds.Work) -> kinds.Effect:
    """Read the texts of the sample; the effect stores them with their importers.

    The questions of the sample are in English. A study in another language gets the default questions in its language.
    """
    contents: list[_Read] = []
    is_english = page_language.language_of(work.run.study) == settings.LANGUAGE_CODE
    read = [(what, name) for what, name in setup.IMPORTS if is_english or what != "questionnaire"]
    for done, (what, name) in enumerate(read):
        work.report(done, len(read), name)
        importer, problems = importers.get(what), Problems()
        files = Inputs({"file": [sources.of_path(texts.FOLDER / name)]}, problems)
        contents.append(_Read(importer, importer.read(files, {}, problems, json_lines.no_report)))
        problems.refuse_any()

    def effect() -> None:
        study, now = work.run.study, timezone.now()
        versions.ensure_styles(study=study, names=texts.STYLES, now=now)
        if not is_english:
            default_dimensions.ensure_pairwise(study=study, now=now)
        counts: dict[str, int] = {}
        for each in contents:
            for name, count in each.importer.store(study, each.content, now).summary.get("made", {}).items():
                if isinstance(count, int):
                    counts[name] = counts.get(name, 0) + count
        Participant.objects.filter(study=study, external_id__startswith="author-").update(is_simulated=True)
        lifecycle.note(run=work.run, summary={name: count for name, count in counts.items() if count})

    return effect


def after_sample(run: Run) -> None:
    """Start the simulated judgments."""
    lifecycle.start(study=run.study, kind="demo.judge", by=run.created_by, seed=run.seed)
