"""Store judgments that were collected elsewhere, with their campaigns, pairs, items and assignments."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from annotation.enums import AssignmentState, CampaignKind, CampaignState, Judges
from annotation.models import (
    Assignment,
    AssignmentTransition,
    Campaign,
    CampaignDimension,
    Dimension,
    Item,
    Judgment,
    Pair,
    Questionnaire,
    QuestionnaireItem,
)
from crowdrag.studies.models import Participant, Study
from writing.corpus.imports import bulk
from writing.corpus.imports.problems import Problems
from writing.models import Response, Topic

CAUSE = "imported"
# A value for each of a campaign's dimensions; None if missing.
Labels = tuple[int | None, ...]


@dataclass(slots=True)
class Answer:
    """A participant's answer to one item on all dimensions: for a pair, or for an item with only a name."""

    file: str
    line: int
    questionnaire: str
    participant: bulk.Person
    topic: str
    values: Labels
    pair: tuple[str, str] | None = None
    item: str = ""
    position: int | None = None  # None: in the order of the answers
    repeat: int = 0
    external_id: str = ""
    justifications: tuple[str, ...] = ()
    judged_at: tuple[datetime | None, ...] = ()
    submitted_at: datetime | None = None

    @property
    def key(self) -> tuple[str, str] | str:
        """Identifies the item."""
        return self.pair or self.item


@dataclass(frozen=True)
class Plan:
    """The campaign that the answers belong to."""

    name: str
    kind: CampaignKind
    judges: Judges
    dimensions: Sequence[Dimension]
    k: int = 5
    inference: str = ""


@dataclass
class _Rows:
    """The database rows of a campaign while its answers are stored."""

    campaign: Campaign
    items: dict[Any, Item] = field(default_factory=dict)
    questionnaires: dict[str, Questionnaire] = field(default_factory=dict)
    assignments: dict[tuple[str, bulk.Person], Assignment] = field(default_factory=dict)


def store(
    *, study: Study, plan: Plan, answers: Sequence[Answer], problems: Problems, now: datetime
) -> tuple[Campaign, dict[str, int]]:
    """Store a campaign's answers in order; return the campaign and the number of new rows. Equal answers are skipped.

    Judgments get ascending ids in the order of the file, so that "the first k votes" are the first in the file.

    Raises
    ------
    BadInput
        if an answer refers to something missing or contradicts a stored one.
    """
    responses = _responses(study, answers)
    topics = _topics(study, answers)
    answers = [answer for answer in answers if _has_references(answer, responses, topics, problems)]
    problems.refuse_any()
    campaign = _campaign(study, plan, problems, now)
    rows = _Rows(campaign)
    counts = {
        "pairs": _ensure_items(study, rows, answers, responses, topics),
        "questionnaires": _ensure_questionnaires(rows, answers, now),
    }
    answers = _ensure_entries(rows, answers, problems)
    people = bulk.ensure_participants(study=study, people=[answer.participant for answer in answers], now=now)
    counts["assignments"] = _ensure_assignments(rows, answers, people, now)
    problems.refuse_any()
    # The triggers of judgments query these tables for every row. Without fresh statistics they would scan them.
    bulk.analyse(Item, Questionnaire, QuestionnaireItem, Assignment)
    created, unchanged = _store_judgments(rows, plan, answers, problems)
    return campaign, counts | {"judgments": created, "judgments_unchanged": unchanged}


def _responses(study: Study, answers: Iterable[Answer]) -> dict[str, tuple[int, str]]:
    """Return the row and the topic of each response of a pair."""
    ids = {response for answer in answers if answer.pair for response in answer.pair}
    responses = {}
    for batch in bulk.batches(ids):
        rows = Response.objects.filter(study=study, external_id__in=batch).order_by("id")
        for external_id, pk, topic in rows.values_list("external_id", "id", "topic__external_id"):
            responses[external_id] = (pk, topic)
    return responses


def _topics(study: Study, answers: Iterable[Answer]) -> dict[str, Topic]:
    topics = {}
    for batch in bulk.batches({answer.topic for answer in answers}):
        rows = Topic.objects.filter(study=study, external_id__in=batch).order_by("version", "id")
        topics.update({topic.external_id: topic for topic in rows})
    return topics


def _has_references(
    answer: Answer, responses: Mapping[str, tuple[int, str]], topics: Mapping[str, Topic], problems: Problems
) -> bool:
    """Return whether everything that an answer refers to exists; report what is missing."""
    wrong: list[tuple[str, str, str]] = []
    if answer.topic not in topics:
        message = f"there is no topic {answer.topic} in this study or this import"
        wrong.append(("query_id", "a topic of the study", message))
    for name, response in zip(("response_a", "response_b"), answer.pair or (), strict=False):
        if response not in responses:
            message = f"there is no response {response} in this study or this import"
            wrong.append((name, "a response of the study", message))
        elif responses[response][1] != answer.topic:
            message = f"{response} answers topic {responses[response][1]}"
            wrong.append((name, f"a response to topic {answer.topic}", message))
    if answer.pair is not None and answer.pair[0] == answer.pair[1]:
        wrong.append(("response_b", "another response than response_a", f"both are {answer.pair[0]}"))
    for name, expected, message in wrong:
        problems.set_aside(file=answer.file, line=answer.line, field=name, expected=expected, message=message)
    return not wrong


def _campaign(study: Study, plan: Plan, problems: Problems, now: datetime) -> Campaign:
    campaign = Campaign.objects.filter(study=study, name=plan.name).first()
    if campaign is None:
        campaign = Campaign.objects.create(
            study=study,
            name=plan.name,
            kind=plan.kind,
            judges=plan.judges,
            inference=plan.inference,
            k=plan.k,
            state=CampaignState.CLOSED,
            created_at=now,
        )
        CampaignDimension.objects.bulk_create(
            [CampaignDimension(campaign=campaign, dimension=d, position=n) for n, d in enumerate(plan.dimensions)]
        )
    elif (campaign.kind, campaign.judges) != (plan.kind, plan.judges):
        message = f"the study has a campaign {plan.name} of another kind"
        problems.add(file="", expected=f"a campaign of kind {plan.kind}, judged by {plan.judges}", message=message)
        problems.refuse_any()
    return campaign


def _ensure_items(
    study: Study,
    rows: _Rows,
    answers: Sequence[Answer],
    responses: Mapping[str, tuple[int, str]],
    topics: Mapping[str, Topic],
) -> int:
    """Fill `rows.items`; return the number of new pairs."""
    first: dict[tuple[str, str] | str, Answer] = {}
    for answer in answers:
        first.setdefault(answer.key, answer)
    ids = {pair: (responses[pair[0]][0], responses[pair[1]][0]) for pair in first if isinstance(pair, tuple)}
    pairs: dict[tuple[int, int], Pair] = {}
    for batch in bulk.batches({a for a, _ in ids.values()}):
        pairs |= {(pair.a_id, pair.b_id): pair for pair in Pair.objects.filter(a__in=batch).order_by("id")}
    new_pairs = [Pair(study=study, a_id=a, b_id=b) for a, b in ids.values() if (a, b) not in pairs]
    for pair in Pair.objects.bulk_create(new_pairs, batch_size=bulk.BATCH):
        pairs[pair.a_id, pair.b_id] = pair
    known: dict[Any, Item] = {}
    for item in Item.objects.filter(campaign=rows.campaign).order_by("id"):
        known[item.pair_id or item.external_id] = item
    missing: list[Item] = []
    for key, answer in first.items():
        shown = pairs[ids[key]] if isinstance(key, tuple) else None
        existing = known.get(shown.pk if shown else key)
        name = "" if shown else str(key)
        item = existing or Item(campaign=rows.campaign, pair=shown, topic=topics[answer.topic], external_id=name)
        if existing is None:
            missing.append(item)
        rows.items[key] = item
    Item.objects.bulk_create(missing, batch_size=bulk.BATCH)
    return len(new_pairs)


def _ensure_questionnaires(rows: _Rows, answers: Sequence[Answer], now: datetime) -> int:
    known = Questionnaire.objects.filter(campaign=rows.campaign).order_by("id")
    rows.questionnaires = {row.external_id: row for row in known}
    names = dict.fromkeys(answer.questionnaire for answer in answers)
    missing = [
        Questionnaire(campaign=rows.campaign, external_id=name, created_at=now)
        for name in names
        if name not in rows.questionnaires
    ]
    for row in Questionnaire.objects.bulk_create(missing, batch_size=bulk.BATCH):
        rows.questionnaires[row.external_id] = row
    return len(missing)


def _ensure_entries(rows: _Rows, answers: Sequence[Answer], problems: Problems) -> list[Answer]:
    """Add the items to their questionnaires at their positions. Return the answers whose item has a position."""
    places: dict[tuple[int, int], int] = {}  # questionnaire, item -> position
    holders: dict[tuple[int, int], int] = {}  # questionnaire, position -> item
    following: dict[int, int] = {}
    known = QuestionnaireItem.objects.filter(questionnaire__campaign=rows.campaign).order_by("id")
    for questionnaire_id, item_id, at in known.values_list("questionnaire_id", "item_id", "position"):
        places[questionnaire_id, item_id] = at
        holders[questionnaire_id, at] = item_id
        following[questionnaire_id] = max(following.get(questionnaire_id, 1), at + 1)
    missing = []
    kept = []
    for answer in answers:
        questionnaire, item = rows.questionnaires[answer.questionnaire].pk, rows.items[answer.key].pk
        placement = places.get((questionnaire, item))
        if placement is not None and answer.position in (None, placement):
            kept.append(answer)
            continue
        position = following.get(questionnaire, 1) if answer.position is None else answer.position
        if placement is not None or (questionnaire, position) in holders:
            what = f"this item stands at {placement}" if placement is not None else "another item stands there"
            expected = "one item at one position of a questionnaire"
            message = f"position {position} of questionnaire {answer.questionnaire}: {what} already"
            problems.set_aside(file=answer.file, line=answer.line, field="position", expected=expected, message=message)
            continue
        kept.append(answer)
        places[questionnaire, item], holders[questionnaire, position] = position, item
        following[questionnaire] = max(following.get(questionnaire, 1), position + 1)
        missing.append(QuestionnaireItem(questionnaire_id=questionnaire, item_id=item, position=position))
    problems.refuse_any()
    QuestionnaireItem.objects.bulk_create(missing, batch_size=bulk.BATCH)
    return kept


def _ensure_assignments(
    rows: _Rows, answers: Sequence[Answer], people: Mapping[bulk.Person, Participant], now: datetime
) -> int:
    known = Assignment.objects.filter(questionnaire__campaign=rows.campaign).order_by("id")
    stored = {(row.questionnaire_id, row.participant_id): row for row in known}
    submitted: dict[tuple[str, bulk.Person], datetime | None] = {}
    for answer in answers:
        key = answer.questionnaire, answer.participant
        times = [time for time in (submitted.get(key), answer.submitted_at if not answer.repeat else None) if time]
        submitted[key] = max(times, default=None)
    missing = []
    for (name, person), time in submitted.items():
        questionnaire, participant = rows.questionnaires[name], people[person]
        row = stored.get((questionnaire.pk, participant.pk))
        if row is None:
            row = Assignment(
                questionnaire=questionnaire, participant=participant, state=AssignmentState.ACCEPTED, submitted_at=time
            )
            missing.append(row)
        rows.assignments[name, person] = row
    created = Assignment.objects.bulk_create(missing, batch_size=bulk.BATCH)
    AssignmentTransition.objects.bulk_create(
        [AssignmentTransition(assignment=row, before="", after=row.state, cause=CAUSE, at=now) for row in created],
        batch_size=bulk.BATCH,
    )
    return len(created)


_COLUMNS: Final = (
    "assignment_id", "item_id", "dimension_id", "repeat", "value", "justification", "judged_at", "external_id",
    "revision",
)  # fmt: skip


def _store_judgments(rows: _Rows, plan: Plan, answers: Sequence[Answer], problems: Problems) -> tuple[int, int]:
    known = _stored_values(sorted({rows.assignments[each.questionnaire, each.participant].pk for each in answers}))
    # A campaign keeps the versions of its questions.
    campaign_dimensions = list(rows.campaign.campaign_dimensions.select_related("dimension").order_by("position", "id"))
    dimensions = {entry.dimension.name: entry.dimension for entry in campaign_dimensions}
    missing: list[tuple[Any, ...]] = []
    coming: set[tuple[int, int, int, int]] = set()
    unchanged = 0
    for answer in answers:
        assignment = rows.assignments[answer.questionnaire, answer.participant]
        item = rows.items[answer.key]
        for n, (planned, value) in enumerate(zip(plan.dimensions, answer.values, strict=True)):
            if value is None:
                continue
            dimension = dimensions.get(planned.name, planned)
            key = (assignment.pk, item.pk, dimension.pk, answer.repeat)
            if key in coming:
                expected, message = "each judgment once", "this participant's judgment of this item is there twice"
                problems.set_aside(
                    file=answer.file, line=answer.line, field=planned.name, expected=expected, message=message
                )
                continue
            coming.add(key)
            if wrong := _contradiction(known.get(key, value), value, dimension):
                expected, message = wrong
                problems.add(file=answer.file, line=answer.line, field=planned.name, expected=expected, message=message)
            elif key in known:
                unchanged += 1
            else:
                reason = answer.justifications[n] if answer.justifications else ""
                judged_at = answer.judged_at[n] if answer.judged_at else None
                missing.append((*key, value, reason, judged_at, answer.external_id, 1))
    problems.refuse_any()
    return bulk.copy(Judgment, _COLUMNS, missing), unchanged


def _stored_values(assignments: Sequence[int]) -> dict[tuple[int, int, int, int], int]:
    """Return the stored values of these assignments by assignment, item, dimension and repetition.

    Only theirs, found by an index: the campaign, or the database, may have millions of others.
    """
    known: dict[tuple[int, int, int, int], int] = {}
    fields = ("assignment_id", "item_id", "dimension_id", "repeat", "value")
    for start in range(0, len(assignments), bulk.BATCH):
        stored = Judgment.objects.filter(assignment__in=assignments[start : start + bulk.BATCH]).order_by()
        known |= {(who, item, question, n): value for who, item, question, n, value in stored.values_list(*fields)}
    return known


def _contradiction(stored: int, value: int, dimension: Dimension) -> tuple[str, str] | None:
    """Return the expected value and the problem of a judgment that cannot be stored."""
    if stored != value:
        return "the same judgment as before", f"the study has {stored} of this participant for this item, not {value}"
    if value not in dimension.values:
        return f"an option of {dimension}: {dimension.values}", f"got {value}"
    return None
