"""Selection of responses and judgments for a release; everything left out is counted by reason."""

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count as Number

from annotation.enums import AssignmentState
from annotation.models import Assignment, Item, Judgment
from crowdrag.studies.models import Study
from writing.enums import Origin
from writing.models import Response, Topic

from ...enums import TextSource
from ..choices import Choices, Timing
from ..personal_data.redaction import Redaction
from .permissions import Permission, Permissions


class Keys:
    """An immutable set of keys, with `in`, `len`, and iteration in ascending order.

    The keys must be given sorted and without duplicates, as from an ordered query.
    """

    def __init__(self, ascending: Iterable[int]) -> None:
        self._keys = array("q", ascending)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, int):
            return False
        index = bisect_left(self._keys, key)
        return index < len(self._keys) and self._keys[index] == key

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys)

    def as_array(self) -> str:
        """Return the keys as one query parameter: an array in PostgreSQL syntax."""
        return f"{{{','.join(map(str, self._keys))}}}"


@dataclass(frozen=True, order=True)
class Exclusion:
    """A number of things left out for one reason: "12 responses: people withdrew their consent"."""

    what: str
    reason: str
    count: int


class ExclusionCount:
    """Counter of what is left out."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, what: str, reason: str, count: int = 1) -> None:
        """Count things left out for a reason."""
        if count:
            self._counts[what, reason] += count

    def total(self) -> tuple[Exclusion, ...]:
        """Return all counts in order."""
        return tuple(sorted(Exclusion(what, reason, count) for (what, reason), count in self._counts.items()))


CHUNK = 2000
RESPONSES = "responses"
JUDGMENTS = "judgments"
RESPONSE_TIMES = "times of responses and their writing logs"
QUESTIONNAIRE_TIMES = "times of questionnaires and their judgments"
NOT_CHOSEN = "they were not chosen for this release"
ERASED = "people had their data erased"
EXCLUDED = "they are excluded from the analysis"
NOT_ACCEPTED = "the questionnaire is not accepted"
ON_WITHHELD = "they are about a response that is left out"


class Making(StrEnum):
    """How an included text came about."""

    WRITTEN_HERE = "WRITTEN_HERE"
    GENERATED = "GENERATED"
    IMPORTED = "IMPORTED"


class Selection:
    """Keys of the included data; a few bytes for each response, a few dozen for each assignment."""

    def __init__(
        self, study: Study, choices: Choices, permissions: Permissions, blackout: Redaction, count: ExclusionCount
    ) -> None:
        self._study, self._choices = study, choices
        self.permissions, self.blackout, self.count = permissions, blackout, count
        self.writers: dict[int, Permission] = {}
        self.participants: set[int] = set()
        self.licences: set[str] = set()
        # Campaigns in which each participant had an assignment.
        self.judged_in: dict[int, set[int]] = defaultdict(set)
        self.makings: set[Making] = set()
        self._has_times = choices.timing != Timing.ABSENT
        self.responses = Keys(self._responses())
        self.assignments = self._assignments()
        self._count_judgments()
        self.topics = self._topics()

    def may_be_seen(self, *responses: int | None) -> bool:
        """Return whether the responses shown in an item are included; items without responses always are."""
        return all(response is None or response in self.responses for response in responses)

    def _responses(self) -> Iterator[int]:
        columns = ("pk", "participant_id", "origin", "is_included", "erased_at", "task__is_imported")
        rows = Response.objects.filter(study=self._study).order_by("pk").values_list(*columns)
        for pk, person, origin, included, erased, imported in rows.iterator(CHUNK):
            permission = self.permissions.writer(person, elsewhere=imported is not False)
            reason = self._reason(pk, origin, included=included, erased=erased is not None, permission=permission)
            if reason:
                self.count.add(RESPONSES, reason)
                continue
            self.writers[person] = permission
            if self._choices.responses:
                self.participants.add(person)
                self.licences.add(permission.licence)
                self.makings.add(_making(origin, is_imported=imported is not False))
                if self._has_times and permission.timing:
                    self.count.add(RESPONSE_TIMES, permission.timing)
            yield pk

    def _reason(self, pk: int, origin: str, *, included: bool, erased: bool, permission: Permission) -> str:
        if origin not in self._choices.origins:
            return NOT_CHOSEN
        if erased:
            return ERASED
        if not (included or self._choices.excluded):
            return EXCLUDED
        return permission.text or self.blackout.reason(TextSource.RESPONSE, pk)

    def _assignments(self) -> dict[int, str]:
        """Return the reason why the judgments of each assignment are left out; empty if they are included."""
        columns = ("pk", "participant_id", "state", "is_included", "questionnaire__campaign_id")
        rows = Assignment.objects.filter(questionnaire__campaign__study=self._study).values_list(*columns)
        reasons = {}
        self._without_times: dict[int, str] = {}
        for pk, person, state, included, campaign in rows.iterator(CHUNK):
            permission = self.permissions.judge(person, campaign)
            reason = permission.judgments
            if self._has_times and permission.timing:
                self._without_times[pk] = permission.timing
            if state != AssignmentState.ACCEPTED:
                reason = NOT_ACCEPTED
            elif not (included or self._choices.excluded):
                reason = EXCLUDED
            self.judged_in[person].add(campaign)
            reasons[pk] = reason if self._choices.judgments else NOT_CHOSEN
        return reasons

    def _count_judgments(self) -> None:
        columns = ("assignment_id", "assignment__participant_id", "item__pair__a_id", "item__pair__b_id")
        rows = Judgment.objects.of_study(self._study).values(*columns, "item__response_id")
        counted = rows.annotate(n=Number("pk")).order_by().values_list(*columns, "item__response_id", "n")
        for assignment, person, a, b, response, n in counted.iterator(CHUNK):
            reason = self.assignments[assignment]
            if not reason and not self.may_be_seen(a, b, response):
                reason = ON_WITHHELD
            if reason:
                self.count.add(JUDGMENTS, reason, n)
            else:
                self.participants.add(person)
                if without := self._without_times.pop(assignment, ""):  # once for all its judgments
                    self.count.add(QUESTIONNAIRE_TIMES, without)

    def _topics(self) -> frozenset[int]:
        """Return the included topics: the latest version of each, and those that included data refer to."""
        if not self._choices.topics:
            return frozenset()
        every = Topic.objects.filter(study=self._study)
        used = set(every.current().values_list("pk", flat=True))
        answered = Response.objects.filter(study=self._study).values_list("pk", "topic_id")
        used.update(topic for pk, topic in answered.iterator(CHUNK) if pk in self.responses)
        if self._choices.judgments:
            items = Item.objects.filter(campaign__study=self._study).order_by()
            used.update(items.values_list("topic_id", flat=True).distinct())
        return frozenset(used)


def _making(origin: str, *, is_imported: bool) -> Making:
    if origin == Origin.MODEL:
        return Making.GENERATED
    return Making.IMPORTED if is_imported else Making.WRITTEN_HERE
