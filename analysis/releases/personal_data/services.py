"""Decisions on possible personal data, and findings in their context."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Judgment
from crowdrag.studies.models import Study, User
from writing.models import Response, SurveyAnswers, WritingLog

from ...enums import PersonalVerdict, TextSource
from . import free_texts
from .models import PersonalDataFinding

#: Number of characters shown before and after a finding.
AROUND = 120
#: Place of a text: source, primary key, and field.
Place = tuple[str, int, str]


class VerdictError(ValueError):
    """The decision is not allowed; the message is for people."""


@dataclass(frozen=True)
class FindingInText:
    """A finding for display: `before`, `match` and `after` are parts of the present text."""

    finding: PersonalDataFinding
    before: str
    match: str
    after: str
    is_there: bool


@transaction.atomic
def decide(
    *,
    study: Study,
    findings: Collection[int],
    verdict: PersonalVerdict,
    reason: str = "",
    by: User | None = None,
    now: datetime | None = None,
) -> int:
    """Decide on findings of a study by their keys, and return their number; later decisions replace earlier ones.

    Raises
    ------
    VerdictError
        If a reason is missing, or part of a log is to be redacted.
    """
    stated_reason = reason.strip()
    if verdict == PersonalVerdict.KEEP and not stated_reason:
        raise VerdictError("Give a reason for releasing this personal data.")
    chosen = PersonalDataFinding.objects.select_for_update().filter(study=study, pk__in=findings).order_by("pk")
    if verdict == PersonalVerdict.REDACT and any(finding.source == TextSource.LOG for finding in chosen):
        raise VerdictError(
            "You cannot redact parts of a writing log, because it would no longer reproduce the text. Leave "
            "it out or release it."
        )
    return PersonalDataFinding.objects.filter(pk__in=[finding.pk for finding in chosen]).update(
        verdict=verdict, reason=stated_reason[:500], decided_at=now or timezone.now(), decided_by=by
    )


def undecided(study: Study, sources: Collection[TextSource]) -> int:
    """Return the number of undecided findings in texts of these sources."""
    return PersonalDataFinding.objects.filter(study=study, source__in=sources).undecided().count()


def shown(findings: Iterable[PersonalDataFinding]) -> list[FindingInText]:
    """Return findings with the surrounding text, read from its place; for one page at a time."""
    page = list(findings)
    stand = _texts(page)
    return [_shown(finding, stand.get(_place(finding), "")) for finding in page]


def _shown(finding: PersonalDataFinding, text: str) -> FindingInText:
    start, end = finding.start, finding.end
    if end > len(text):
        return FindingInText(finding, "", "", "", is_there=False)
    return FindingInText(
        finding, text[max(0, start - AROUND) : start], text[start:end], text[end : end + AROUND], is_there=True
    )


def _place(finding: PersonalDataFinding) -> Place:
    several = finding.source in {TextSource.SURVEY, TextSource.LOG}
    return finding.source, finding.row, finding.field if several else ""


def _texts(findings: Sequence[PersonalDataFinding]) -> dict[Place, str]:
    """Return the existing texts of findings of one study, with one query for each source.

    Only rows of the findings' study are read.
    """
    rows: dict[str, set[int]] = defaultdict(set)
    for finding in findings:
        rows[finding.source].add(finding.row)
    studies = {finding.study_id for finding in findings}
    texts: dict[Place, str] = {}
    for source, keys in rows.items():
        for where, text in _READ[TextSource(source)](studies, keys):
            texts.setdefault(where, text)
    return texts


def _responses(studies: set[int], keys: set[int]) -> Iterator[tuple[Place, str]]:
    rows = Response.objects.filter(study__in=studies, pk__in=keys).values_list("pk", "text")
    return (((TextSource.RESPONSE, pk, ""), text) for pk, text in rows)


def _justifications(studies: set[int], keys: set[int]) -> Iterator[tuple[Place, str]]:
    rows = Judgment.objects.filter(item__campaign__study__in=studies, pk__in=keys).values_list("pk", "justification")
    return (((TextSource.JUSTIFICATION, pk, ""), text) for pk, text in rows)


def _comments(studies: set[int], keys: set[int]) -> Iterator[tuple[Place, str]]:
    rows = Assignment.objects.filter(questionnaire__campaign__study__in=studies, pk__in=keys)
    return (((TextSource.COMMENT, pk, ""), text) for pk, text in rows.values_list("pk", "comment"))


def _answers(studies: set[int], keys: set[int]) -> Iterator[tuple[Place, str]]:
    rows = SurveyAnswers.objects.filter(task__study__in=studies, pk__in=keys).values_list("pk", "answers")
    return (
        ((TextSource.SURVEY, pk, field), str(text)) for pk, answers in rows for field, text in (answers or {}).items()
    )


def _logs(studies: set[int], keys: set[int]) -> Iterator[tuple[Place, str]]:
    logs = WritingLog.objects.filter(task__study__in=studies, pk__in=keys)
    return (((TextSource.LOG, log.pk, str(number)), text) for log in logs for number, text in free_texts.discarded(log))


_READ: Final = {
    TextSource.RESPONSE: _responses,
    TextSource.JUSTIFICATION: _justifications,
    TextSource.COMMENT: _comments,
    TextSource.SURVEY: _answers,
    TextSource.LOG: _logs,
}
