"""Detection of personal data in all free texts of a study, and storage of the findings for review."""

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
    """Possible personal data at a place in a text; `text` is the matching text."""

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
    """Return the sources of the texts that these choices release."""
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
    """Yield possible personal data in the study's texts; `report` receives the number of texts examined."""
    own_answers = free_texts.answers_about_themselves(study)
    known = _platform_ids(study)
    passages = _Passages()
    for n, (text, by_rules) in enumerate(_looked_at(free_texts.texts_of(study, where)), 1):
        if report and n % TICK == 0:
            report(n, str(text.source.label))
        # A survey answer of course contains the participant's own answer.
        answers = () if text.source == TextSource.SURVEY else own_answers.get(text.participant, ())
        for match in rules.find(text.text, own_answers=answers, known=known, by_rules=by_rules):
            words = text.text[match.start : match.end]
            yield Detection(
                text.source, text.row, text.field, match.start, match.end, match.kind, text.participant,
                passages.hold(text.topic, words), words,
            )  # fmt: skip


def _looked_at(texts: Iterator[free_texts.Text]) -> Iterator[tuple[free_texts.Text, bool]]:
    """Yield each text, and whether a rule could match in it."""
    while batch := list(islice(texts, BATCH)):
        yield from zip(batch, rules.may_hold([text.text for text in batch]), strict=True)


def look(*, study: Study, choices: Choices, now: datetime, report: Report | None = None) -> Callable[[], None]:
    """Examine the texts that these choices would release; return a function that stores the findings.

    Call the returned function in a transaction. Texts are not stored. Earlier decisions on the same span of the same
    text still hold.
    """
    where = sources(choices)
    findings = [_row(study, detection, now) for detection in find(study, where, report=report)]
    return lambda: keep(study=study, findings=findings, where=where, now=now)


@transaction.atomic
def keep(*, study: Study, findings: list[PersonalDataFinding], where: Collection[TextSource], now: datetime) -> None:
    """Store the findings, and delete findings (with their decisions) that these texts no longer contain.

    Findings about people who were erased in the meantime are not stored.
    """
    people = {finding.participant_id for finding in findings}
    # The participant's row is the lock, as in erasures.
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
    """Return the study's participant IDs on platforms, to search for them; keep them no longer than that."""
    rows = Participant.objects.filter(study=study, identity__isnull=False).values_list("identity", flat=True)
    ids = (identity.decrypt(bytes(encrypted)).lower() for encrypted in rows.iterator(chunk_size=BATCH) if encrypted)
    return frozenset(platform_id for platform_id in ids if len(platform_id) >= SHORTEST_ID)


class _Passages:
    """Passages of one topic, cached."""

    def __init__(self) -> None:
        self._topic: int | None = None
        self._texts: list[str] = []

    def hold(self, topic: int | None, words: str) -> bool:
        """Return whether a passage of the topic contains these words."""
        if topic is None:
            return False
        if topic != self._topic:
            rows = RetrievedPassage.objects.filter(topic=topic).values_list("passage__text", flat=True)
            self._topic, self._texts = topic, list(rows)
        return any(words in text for text in self._texts)
