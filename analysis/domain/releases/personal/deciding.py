"""Deciding what is done with what looks like personal data, and showing it where it stands."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Assignment, Judgment
from crowdrag.studies.models import Study, User
from writing.models import Response, SurveyAnswers, WritingLog

from ....enums import PersonalVerdict, TextSource
from ....models import PersonalFinding
from . import texts

#: So much is shown of a text before and behind what was found.
AROUND = 120


class VerdictError(ValueError):
    """This cannot be decided so; the message is for people."""


@dataclass(frozen=True)
class Shown:
    """A finding as it is read: `before`, `found` and `after` are pieces of the text as it stands now."""

    finding: PersonalFinding
    before: str
    found: str
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
    """Decide on findings of a study by their keys, and return how many there were. A later decision replaces it.

    Raises
    ------
    VerdictError
        if a reason is missing, or a piece of a log is to be blacked out.
    """
    said = reason.strip()
    if verdict == PersonalVerdict.KEEP and not said:
        raise VerdictError(_("Say why this is released although it is personal data."))
    chosen = PersonalFinding.objects.select_for_update().filter(study=study, pk__in=findings).order_by("pk")
    if verdict == PersonalVerdict.REDACT and any(each.source == TextSource.LOG for each in chosen):
        raise VerdictError(
            _("In a log nothing can be blacked out: it would not make the text then. Leave it out, or release it.")
        )
    return PersonalFinding.objects.filter(pk__in=[each.pk for each in chosen]).update(
        verdict=verdict, reason=said[:500], decided_at=now or timezone.now(), decided_by=by
    )


def undecided(study: Study, sources: Collection[TextSource]) -> int:
    """Return how many findings in texts of these sources nobody has decided on."""
    return PersonalFinding.objects.filter(study=study, source__in=sources).undecided().count()


def shown(findings: Iterable[PersonalFinding]) -> list[Shown]:
    """Return findings with the text around them, read where it stands: for a page of them, not for all."""
    return [_shown(each) for each in findings]


def _shown(finding: PersonalFinding) -> Shown:
    text = _text(finding)
    start, end = finding.start, finding.end
    if end > len(text):
        return Shown(finding, "", "", "", is_there=False)
    return Shown(
        finding, text[max(0, start - AROUND) : start], text[start:end], text[end : end + AROUND], is_there=True
    )


def _text(finding: PersonalFinding) -> str:
    """Return the text that a finding is in; empty where it is gone. The row is looked up in the finding's study."""
    study, pk = finding.study_id, finding.row
    match TextSource(finding.source):
        case TextSource.RESPONSE:
            return _value(Response.objects.filter(study=study, pk=pk), "text")
        case TextSource.JUSTIFICATION:
            return _value(Judgment.objects.filter(item__campaign__study=study, pk=pk), "justification")
        case TextSource.COMMENT:
            return _value(Assignment.objects.filter(questionnaire__campaign__study=study, pk=pk), "comment")
        case TextSource.SURVEY:
            answers = SurveyAnswers.objects.filter(task__study=study, pk=pk).values_list("answers", flat=True).first()
            return str((answers or {}).get(finding.field, ""))
        case TextSource.LOG:
            log = WritingLog.objects.filter(task__study=study, pk=pk).first()
            pieces = texts.discarded(log) if log else ()
            return next((text for number, text in pieces if str(number) == finding.field), "")


def _value(rows: "object", column: str) -> str:
    return rows.values_list(column, flat=True).first() or ""  # type: ignore[attr-defined]
