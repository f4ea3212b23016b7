"""Evidence about submitted questionnaires, loaded for many at once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from django.db.models import Count, Sum

from ...enums import AssignmentState
from ...models import (
    Assignment,
    CampaignDimension,
    Dimension,
    ItemTime,
    Judgment,
    LiveCompetence,
    QuestionnaireItem,
)
from .. import attention_checks, check_results
from .measures import Answer, Trust, Work

S = AssignmentState
# States whose answers count as those of others: submitted and not rejected. Surplus counts too.
OTHERS = (S.SUBMITTED, S.ACCEPTED, S.SURPLUS)

Question = tuple[int, int]


def collect_work(assignments: Sequence[Assignment]) -> dict[int, Work]:
    """Return the evidence on each assignment, by id. They come with their questionnaire and campaign."""
    keys = [each.pk for each in assignments]
    placements = _placements({each.questionnaire_id for each in assignments})
    answers = _answers(assignments, placements)
    values_by_judge = {
        who: {(each.item, each.dimension): each.value for each in answers_of_judge}
        for who, answers_of_judge in answers.items()
    }
    others = _others(
        {item for answers_of_judge in answers.values() for item in {each.item for each in answers_of_judge}}
    )
    counted = {each.pk for each in assignments if each.state in OTHERS and each.is_included}
    seconds = _item_seconds(keys)
    checks, gold = check_results.check_results(keys), check_results.gold_results(keys)
    trust = _trust(assignments)
    return {
        each.pk: Work(
            answers=tuple(answers.get(each.pk, ())),
            texts={item: texts for item, (_, texts) in placements.get(each.questionnaire_id, {}).items()},
            others=_without(values_by_judge.get(each.pk, {}), others, own_counts=each.pk in counted),
            seconds=each.seconds,
            active_seconds=each.active_seconds,
            item_seconds=seconds.get(each.pk, {}),
            minimum_seconds=each.questionnaire.campaign.minimum_seconds,
            # After erasure, the answers to checks are deleted. That is not a failed check.
            checks=() if each.participant.erased_at else tuple(checks.get(each.pk, ())),
            fails_needed=attention_checks.fails_needed(each.questionnaire.campaign),
            gold=tuple(gold.get(each.pk, ())),
            trust=tuple(trust.get((each.questionnaire.campaign_id, each.participant_id), ())),
        )
        for each in assignments
    }


def count_others(items: Iterable[int], *, but: Assignment) -> dict[Question, Counter[int]]:
    """Return how often others gave each answer to the questions about these items."""
    own_values = {
        (item, dimension): value
        for item, dimension, value in but.judgments.filter(repeat=0).values_list("item", "dimension", "value")
    }
    counts = but.state in OTHERS and but.is_included
    return _without(own_values, _others(set(items)), own_counts=counts, all_questions=True)


def _placements(questionnaires: set[int]) -> dict[int, dict[int, tuple[int, int]]]:
    """Return for each item of each questionnaire its position and its number of texts, in order."""
    placements: dict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
    rows = QuestionnaireItem.objects.filter(questionnaire__in=questionnaires).order_by("position")
    for questionnaire, item, position, pair in rows.values_list("questionnaire", "item", "position", "item__pair"):
        placements[questionnaire][item] = (position, 1 if pair is None else 2)
    return placements


def _answers(
    assignments: Sequence[Assignment], placements: dict[int, dict[int, tuple[int, int]]]
) -> dict[int, list[Answer]]:
    """Return each assignment's answers in the order of the page."""
    by_key = {each.pk: each for each in assignments}
    questions = CampaignDimension.objects.filter(campaign__in={each.questionnaire.campaign_id for each in assignments})
    ranks = {
        (campaign, dimension): rank
        for campaign, dimension, rank in questions.values_list("campaign", "dimension", "position")
    }
    rows = list(
        Judgment.objects.filter(assignment__in=by_key, repeat=0)
        .order_by("pk")
        .values_list("assignment", "item", "dimension", "value")
    )
    # Read once, not with each of thousands of answers.
    dimensions = Dimension.objects.filter(pk__in={dimension for _, _, dimension, _ in rows})
    options = {each.pk: tuple(each.values) for each in dimensions}
    answers: dict[int, list[tuple[int, int, Answer]]] = defaultdict(list)
    for who, item, dimension, value in rows:
        questionnaire = by_key[who].questionnaire
        position = placements.get(questionnaire.pk, {}).get(item, (0, 0))[0]
        rank = ranks.get((questionnaire.campaign_id, dimension), 0)
        answers[who].append((position, rank, Answer(item, dimension, value, options[dimension])))
    return {who: [each[2] for each in sorted(judged, key=lambda each: each[:2])] for who, judged in answers.items()}


def _others(items: set[int]) -> dict[Question, Counter[int]]:
    """Return how often each answer was given to the questions about these items, including the judge's own."""
    rows = Judgment.objects.filter(
        item__in=items, repeat=0, assignment__state__in=OTHERS, assignment__is_included=True
    ).order_by()
    counts: dict[Question, Counter[int]] = defaultdict(Counter)
    for item, dimension, value, n in rows.values_list("item", "dimension", "value").annotate(n=Count("pk")):
        counts[item, dimension][value] = n
    return counts


def _without(
    own_values: dict[Question, int],
    everybody: dict[Question, Counter[int]],
    *,
    own_counts: bool,
    all_questions: bool = False,
) -> dict[Question, Counter[int]]:
    """Return the counts without the judge's own answers, if these were counted."""
    questions = everybody if all_questions else own_values
    remaining = {}
    for question in questions:
        counts = Counter(everybody.get(question, {}))
        if own_counts and question in own_values:
            counts[own_values[question]] -= 1
        if counts := +counts:
            remaining[question] = counts
    return remaining


def _item_seconds(assignments: Sequence[int]) -> dict[int, dict[int, float]]:
    rows = ItemTime.objects.filter(assignment__in=assignments).order_by()
    seconds_by_item: dict[int, dict[int, float]] = defaultdict(dict)
    for who, item, seconds in rows.values_list("assignment", "item").annotate(sum=Sum("active_seconds")):
        seconds_by_item[who][item] = seconds
    return seconds_by_item


def _trust(assignments: Sequence[Assignment]) -> dict[Question, list[Trust]]:
    rows = LiveCompetence.objects.filter(
        campaign__in={each.questionnaire.campaign_id for each in assignments},
        participant__in={each.participant_id for each in assignments},
    )
    trust: dict[Question, list[Trust]] = defaultdict(list)
    columns = ("campaign", "participant", "dimension__label", "spam_probability", "low", "high", "judgments")
    for campaign, participant, *rest in rows.order_by("dimension").values_list(*columns):
        trust[campaign, participant].append(Trust(*rest))
    return trust
