"""Looking through all free texts of a study, and keeping what was found for decision."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db import transaction

from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import identity
from writing.models import RetrievedPassage

from ...enums import PersonalKind, TextSource
from ..choices import Choices, Logs
from . import free_texts, rules
from .models import PersonalDataFinding

Report = Callable[[int, str], None]
BATCH = 500
TICK = 500
SHORTEST_ID = 6


@dataclass(frozen=True, slots=True)
class Detection:
    """What looks like personal data, and where; `text` is what stands there."""

    source: TextSource
    row: int
    field: str
    start: int
    end: int
    kind: PersonalKind
    participant: int
    in_passages: bool
    text: str


def sources(choices: Choices) -> frozenset[TextSource]:
    """Return where texts stand that these choices release."""
    chosen = {
        TextSource.RESPONSE: choices.responses,
        TextSource.SURVEY: choices.responses and choices.surveys,
        TextSource.LOG: choices.responses and choices.logs in (Logs.MINUTES, Logs.SENTENCES, Logs.FULL),
        TextSource.JUSTIFICATION: choices.judgments and choices.justifications,
        TextSource.COMMENT: choices.judgments and choices.comments,
    }
    return frozenset(source for source, holds in chosen.items() if holds)


def find(
    study: Study, where: Collection[TextSource] = tuple(TextSource), *, report: Report | None = None
) -> Iterator[Detection]:
    """Yield what looks like personal data in the study's texts; `report` is told how many were looked through."""
    own_answers = free_texts.answers_about_themselves(study)
    known = _platform_ids(study)
    passages = _Passages()
    for n, (text, by_rules) in enumerate(_looked_at(free_texts.texts_of(study, where)), 1):
        if report and n % TICK == 0:
            report(n, str(text.source.label))
        # What somebody answered stands in the answer itself, of course.
        answers = () if text.source == TextSource.SURVEY else own_answers.get(text.participant, ())
        for match in rules.find(text.text, own_answers=answers, known=known, by_rules=by_rules):
            words = text.text[match.start : match.end]
            yield Detection(
                text.source, text.row, text.field, match.start, match.end, match.kind, text.participant,
                passages.hold(text.topic, words), words,
            )  # fmt: skip


def _looked_at(texts: Iterator[free_texts.Text]) -> Iterator[tuple[free_texts.Text, bool]]:
    """Yield each text with whether a rule could find something in it."""
    while batch := list(islice(texts, BATCH)):
        yield from zip(batch, rules.may_hold([text.text for text in batch]), strict=True)


def look(*, study: Study, choices: Choices, now: datetime, report: Report | None = None) -> Callable[[], None]:
    """Look through what these choices would release; return what keeps it, to be called in one transaction.

    Nothing is kept of the texts themselves. What was decided on the same stretch of the same text before still holds.
    """
    where = sources(choices)
    findings = [_row(study, detection, now) for detection in find(study, where, report=report)]
    return lambda: keep(study=study, findings=findings, where=where, now=now)


@transaction.atomic
def keep(*, study: Study, findings: list[PersonalDataFinding], where: Collection[TextSource], now: datetime) -> None:
    """Keep what was found; what these texts held before and hold no more goes, with the decision on it.

    Of a person who had their texts erased meanwhile nothing is kept.
    """
    people = {finding.participant_id for finding in findings}
    # The participant's row is the lock, as in an erasure.
    participants = Participant.objects.select_for_update(no_key=True).filter(pk__in=people, erased_at__isnull=True)
    living = set(participants.order_by("pk").values_list("pk", flat=True))
    rest = iter([finding for finding in findings if finding.participant_id in living])
    while batch := list(islice(rest, BATCH)):
        PersonalDataFinding.objects.bulk_create(
            batch,
            update_conflicts=True,
            unique_fields=["source", "row", "field", "start", "end", "kind"],
            update_fields=["in_passages", "found_at"],
        )
    PersonalDataFinding.objects.filter(study=study, source__in=where, found_at__lt=now).delete()


def _row(study: Study, detection: Detection, now: datetime) -> PersonalDataFinding:
    return PersonalDataFinding(
        study=study,
        participant_id=detection.participant,
        source=detection.source,
        row=detection.row,
        field=detection.field,
        kind=detection.kind,
        start=detection.start,
        end=detection.end,
        in_passages=detection.in_passages,
        found_at=now,
    )


def _platform_ids(study: Study) -> frozenset[str]:
    """Return the ids by which platforms know the study's people, to find them; they are held no longer than that."""
    rows = Participant.objects.filter(study=study, identity__isnull=False).values_list("identity", flat=True)
    ids = (identity.decrypt(bytes(encrypted)).lower() for encrypted in rows.iterator(chunk_size=BATCH) if encrypted)
    return frozenset(platform_id for platform_id in ids if len(platform_id) >= SHORTEST_ID)


class _Passages:
    """The passages of the topic that was asked about last."""

    def __init__(self) -> None:
        self._topic: int | None = None
        self._texts: list[str] = []

    def hold(self, topic: int | None, words: str) -> bool:
        """Say whether one of a topic's passages holds these words."""
        if topic is None:
            return False
        if topic != self._topic:
            rows = RetrievedPassage.objects.filter(topic=topic).values_list("passage__text", flat=True)
            self._topic, self._texts = topic, list(rows)
        return any(words in text for text in self._texts)
