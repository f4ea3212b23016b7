"""Selection for the published layout: valid data, with consent, that fit the layout."""

from collections import Counter
from dataclasses import dataclass, field

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet

from annotation.enums import AssignmentState
from annotation.models import Judgment
from crowdrag.studies.models import Consent, Participant, Study
from writing.models import Response, RetrievedPassage, Topic

OLDER = "older versions of topics and responses to them: the layout has one version per topic"
GAPS = "topics with gaps in the passages' ranks and responses to them: their citations would be wrong"
NARRATIVES = "narratives of topics: the layout has no field for them"
PASSAGES = "titles, addresses or scores of retrieved passages: the layout has only their IDs and texts"
EXCLUDED = "responses that are excluded from the analysis"
ERASED = "responses that were erased"
UNRELEASED = "responses whose writers did not agree to their release"
LOGS = "writing logs whose writers did not agree to their release: only the final text is included"
UNACCEPTED = "judgments that are not accepted: in progress, submitted, rejected or surplus"
WITHDRAWN = "judgments of participants who withdrew their consent"
TIMES = "platform records of participants who did not agree to the release of timing"


@dataclass
class ExclusionCounts:
    """Counter of what is left out, by reason."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, reason: str, count: int = 1) -> None:
        """Count rows left out for this reason."""
        if count:
            self.counts[reason] += count

    def as_json(self) -> list[dict[str, str | int]]:
        """Return the counts for the manifest."""
        return [{"what": reason, "count": count} for reason, count in sorted(self.counts.items())]


def topics(study: Study, left_out: ExclusionCounts) -> "QuerySet[Topic]":
    """Return the released topics: latest versions, with ranks from 0 without gaps."""
    every = Topic.objects.filter(study=study)
    current = every.current()
    left_out.add(OLDER, every.count() - current.count())
    whole = current.annotate(last=Max("retrieved__rank"), passages=Count("retrieved")).filter(
        Q(last__isnull=True) | Q(last=F("passages") - 1)
    )
    left_out.add(GAPS, current.count() - whole.count())
    left_out.add(NARRATIVES, whole.exclude(narrative="").count())
    has_more = ~Q(passage__title="") | ~Q(passage__url="") | Q(score__isnull=False)
    left_out.add(PASSAGES, RetrievedPassage.objects.filter(has_more, topic__in=whole.values("id")).count())
    return whole.order_by("id")


def responses(study: Study, left_out: ExclusionCounts) -> "QuerySet[Response]":
    """Return the released responses in the order of submission."""
    uncounted = ExclusionCounts()
    released = Response.objects.filter(study=study)
    steps = (
        (ERASED, Q(erased_at__isnull=True)),
        (EXCLUDED, Q(is_included=True)),
        (UNRELEASED, ~_withheld("participant", releases_text=True)),
        (OLDER, Q(topic__in=Topic.objects.filter(study=study).current())),
        (GAPS, Q(topic__in=topics(study, uncounted).values("id"))),
    )
    before = released.count()
    for reason, condition in steps:
        released = released.filter(condition)
        now = released.count()
        left_out.add(reason, before - now)
        before = now
    return released.order_by("id")


def keeps_its_log(responses_: "QuerySet[Response]") -> "QuerySet[Response]":
    """Keep the responses whose writing log may be released too."""
    return responses_.filter(~_withheld("participant", releases_log=True))


def judgments(study: Study, left_out: ExclusionCounts) -> "QuerySet[Judgment]":
    """Return the judgments of accepted assignments whose participants did not withdraw."""
    every = Judgment.objects.of_study(study)
    accepted = every.filter(assignment__state=AssignmentState.ACCEPTED)
    left_out.add(UNACCEPTED, every.count() - accepted.count())
    kept = accepted.filter(~_withheld("assignment__participant"))
    left_out.add(WITHDRAWN, accepted.count() - kept.count())
    return kept


def timing_of(people: "QuerySet[Participant]") -> "QuerySet[Participant]":
    """Keep the people whose timing may be released."""
    return people.filter(~_withheld("pk", releases_timing=True))


def _withheld(person: str, **releases: bool) -> Q:
    """Return the condition that a person's consent does not cover this; people of imported corpora need none."""
    consents = Consent.objects.filter(participant=OuterRef(person))
    return Q(Exists(consents)) & ~Q(Exists(consents.filter(withdrawn_at__isnull=True, **releases)))
