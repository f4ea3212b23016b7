"""Attention checks, items with known labels, and training: what the rules ask for, and what is refused."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaigns import questionnaires
from annotation.enums import CampaignKind, CampaignState, Judges
from annotation.models import AttentionCheck, Item, KnownLabel, Pair, QuestionnaireItem
from annotation.quality import attention_checks, check_results, known_labels, problems, training
from annotation.quality.attention_checks import place_checks
from annotation.quality.known_labels import LabelWithReason, place_gold
from tests.annotation import judge_actions, open_campaign
from tests.factories import (
    NOW,
    AssignmentFactory,
    CampaignFactory,
    ItemFactory,
    JudgmentFactory,
    QuestionnaireItemFactory,
)

pytestmark = pytest.mark.django_db
OPTIONS = [{"value": -1, "label": "Response A"}, {"value": 0, "label": "Neither"}, {"value": 1, "label": "Response B"}]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def draft(**fields: Any) -> open_campaign.World:
    return open_campaign.world(state=CampaignState.DRAFT, **fields)


@given(st.integers(1, 40), st.integers(0, 12), st.integers(0, 99))
def test_checks_are_spread(items: int, checks: int, seed: int) -> None:
    found = attention_checks.positions(items, checks, rng(seed))
    assert len(found) == len(set(found)) == min(items, checks)
    assert found == sorted(found)
    assert all(0 <= each < items for each in found)
    # One in each stretch: no two lie closer than that leaves room for.
    assert all(items * n // len(found) <= each < items * (n + 1) // len(found) for n, each in enumerate(found))


@given(st.integers(0, 10), st.integers(0, 999))
def test_each_check_can_be_passed_by_who_reads_it(n: int, seed: int) -> None:
    for check in attention_checks.draw(attention_checks.defaults(), OPTIONS, n, rng(seed)):
        labels = {option["value"]: option["label"] for option in check.options}
        assert check.expected in labels
        assert attention_checks.ANSWER not in check.text
        # Either its text names the answer, or it is nonsense and there is no neutral option.
        assert labels[check.expected] in check.text or list(labels) == [-1, 1]


def test_texts_repeat_only_when_there_are_no_more() -> None:
    texts = attention_checks.defaults()
    found = [check.text for check in attention_checks.draw(texts, OPTIONS[:1], 6, rng())]
    assert len(set(found)) == 6
    answers = Counter(
        check.expected for seed in range(300) for check in attention_checks.draw(texts, OPTIONS, 1, rng(seed))
    )
    assert min(answers[value] for value in (-1, 0, 1)) > 60


def test_unfair_texts_are_refused() -> None:
    here = draft()
    before = here.campaign.design
    for text in (
        "Choose an answer.",
        "{answer} or {answer}",
        "Do you remember the last page? {answer}",
        "x{answer}" * 200,
    ):
        with pytest.raises(problems.BadText):
            attention_checks.change_checks(campaign=here.campaign, instructed=[text], nonsense=[], checks=2, gold=0)
    here.campaign.refresh_from_db()
    assert here.campaign.design == before


def test_own_texts_are_asked() -> None:
    here = draft()
    here.change(design={"reverse_share": 0})
    texts = ["  Choose   {answer}. ", "", "Choose {answer}."]
    attention_checks.change_checks(campaign=here.campaign, instructed=texts, nonsense=[], checks=1, gold=0)
    here.campaign.refresh_from_db()
    assert attention_checks.texts_of(here.campaign) == attention_checks.CheckTexts(("Choose {answer}.",), ())
    assert (here.campaign.design["checks"], here.campaign.design["gold"]) == (1, 0)
    # What was drawn before is drawn anew, and has the checks.
    assert not here.campaign.questionnaires.exists()
    questionnaires.build(campaign=here.campaign, now=NOW)
    sheets = here.campaign.questionnaires.count()
    assert AttentionCheck.objects.filter(text__startswith="Choose ").count() == sheets > 0


def test_a_longer_study_needs_two_failed_checks() -> None:
    here = draft(minutes=5)
    assert attention_checks.fails_needed(here.campaign) == 2
    assert attention_checks.notice(here.campaign, 2) != attention_checks.notice(here.campaign, 1)
    assert attention_checks.fails_needed(here.change(minutes=4)) == 1
    assert attention_checks.notice(here.campaign, 0) == ""


def test_places_of_checks_follow_from_the_seed() -> None:
    here = draft(topics=3)
    sheets = here.questionnaires

    def placed(seed: int) -> list[Any]:
        place_checks(questionnaires=here.campaign.questionnaires.all(), per_questionnaire=2, rng=rng(seed))
        rows = AttentionCheck.objects.order_by("questionnaire", "position")
        return list(rows.values_list("position", "text", "expected"))

    first = placed(1)
    assert len(first) == 2 * len(sheets)
    assert placed(1) == first
    assert placed(2) != first


def gold_items(here: open_campaign.World, count: int) -> list[Item]:
    """Make so many gold items, of pairs in the other order than those that are asked, and other questionnaires."""
    entries = QuestionnaireItem.objects.filter(questionnaire__campaign=here.campaign).select_related("item__pair")
    pairs = [entry.item.pair for entry in entries][:count]
    asked = list(Item.objects.filter(campaign=here.campaign))
    items = [known_labels.add_pair(campaign=here.campaign, left=pair.b, right=pair.a) for pair in pairs]
    for item in items:
        known_labels.set_labels(item=item, known={here.dimensions[0].pk: LabelWithReason(1, "Only B answers it.")})
    here.questionnaires = open_campaign.make_questionnaires(here.campaign, asked, 3)
    return items


def test_gold_items_take_turns_and_stand_anywhere() -> None:
    here = draft(topics=12, responses=3, per_questionnaire=3)
    items = gold_items(here, 6)
    words = here.questionnaires[0].words
    order = {
        sheet.pk: list(sheet.entries.order_by("position").values_list("item", flat=True))
        for sheet in here.questionnaires
    }
    place_gold(questionnaires=here.questionnaires, per_questionnaire=2, rng=rng(5))
    met: Counter[int] = Counter()
    places: Counter[int] = Counter()
    for sheet in here.questionnaires:
        entries = list(sheet.entries.order_by("position").values_list("item", "position", "has_known_label"))
        assert [position for _item, position, _gold in entries] == list(range(5))
        assert [item for item, _position, has_known_label in entries if not has_known_label] == order[sheet.pk]
        met.update(item for item, _position, has_known_label in entries if has_known_label)
        places.update(position for _item, position, has_known_label in entries if has_known_label)
    assert set(met) == {item.pk for item in items}
    # A gold item's own pair may stand in a questionnaire, which then takes the next: so much and no more they differ.
    assert max(met.values()) - min(met.values()) <= 2
    assert len(places) == 5
    here.questionnaires[0].refresh_from_db()
    assert here.questionnaires[0].words > words
    assert known_labels.questionnaires_between_repeats(6, 2) == 3


def test_a_pair_stands_once_in_a_questionnaire() -> None:
    here = draft(topics=1)
    gold_items(here, 3)
    assert place_gold(questionnaires=here.questionnaires, per_questionnaire=2, rng=rng()) == []


def test_what_cannot_be_gold() -> None:
    here = draft()
    a, b = here.responses[:2]
    other = here.responses[-1]
    stranger = draft().responses[0]
    for left, right in ((a, a), (a, other), (a, stranger)):
        with pytest.raises(problems.BadPair):
            known_labels.add_pair(campaign=here.campaign, left=left, right=right)
    item = known_labels.add_pair(campaign=here.campaign, left=b, right=a)
    with pytest.raises(problems.BadLabel):
        known_labels.set_labels(item=item, known={here.dimensions[0].pk: LabelWithReason(7)})
    with pytest.raises(problems.BadLabel):
        known_labels.set_labels(item=item, known={draft().dimensions[0].pk: LabelWithReason(1)})
    assert not KnownLabel.objects.exists()


def test_nothing_changes_once_people_are_asked() -> None:
    here = draft()
    a, b = here.responses[:2]
    item = known_labels.add_pair(campaign=here.campaign, left=b, right=a)
    known_labels.set_labels(item=item, known={here.dimensions[0].pk: LabelWithReason(1)})
    here.change(state=CampaignState.OPEN, opened_at=NOW)
    for change in (
        lambda: known_labels.add_pair(campaign=here.campaign, left=a, right=b),
        lambda: known_labels.set_labels(item=item, known={}),
        lambda: known_labels.remove(item=item),
        lambda: training.add_item(campaign=here.campaign, item=item),
        lambda: training.remove_item(item=item),
        lambda: attention_checks.change_checks(campaign=here.campaign, instructed=[], nonsense=[], checks=1, gold=1),
    ):
        with pytest.raises(problems.NotDraft):
            change()
    assert item.known_labels.count() == 1


def agreed(here: open_campaign.World, pool: Judges, votes: list[tuple[int, int]]) -> Item:
    """Another campaign in which people gave these votes on the first two dimensions of one pair."""
    kind = CampaignKind.EXPERT if pool is Judges.EXPERT else CampaignKind.PAIRWISE
    other = CampaignFactory(study=here.study, judges=pool, kind=kind)
    pair = Pair.objects.get(a=here.responses[1], b=here.responses[0])
    entry = QuestionnaireItemFactory(item=ItemFactory(campaign=other, pair=pair))
    for each in votes:
        assignment = AssignmentFactory(questionnaire=entry.questionnaire)
        for dimension, value in zip(here.dimensions, each, strict=False):
            JudgmentFactory(entry=entry, assignment=assignment, dimension=dimension, value=value)
    return entry.item


def reversed_pair(here: open_campaign.World) -> None:
    Pair.objects.create(study=here.study, a=here.responses[1], b=here.responses[0])


def test_experts_who_agree_propose_labels_until_the_campaign_has_the_pair() -> None:
    here = draft()
    reversed_pair(here)
    item = agreed(here, Judges.EXPERT, [(1, 1), (1, -1)])
    (found,) = known_labels.proposals(here.campaign, Judges.EXPERT)
    assert (found.pair, found.labels, found.judges, found.agreement) == (item.pair, {here.dimensions[0].pk: 1}, 2, 1.0)
    assert known_labels.proposals(here.campaign, Judges.CROWD) == []
    known_labels.add_pair(campaign=here.campaign, left=item.pair.a, right=item.pair.b)
    assert known_labels.proposals(here.campaign, Judges.EXPERT) == []


def test_four_in_five_of_a_crowd_propose_a_label() -> None:
    here = draft()
    reversed_pair(here)
    for votes, is_proposed in (
        ([1, 1, 1], False),
        ([1, 1, 1, 1], True),
        ([1, 1, 1, 1, -1], True),
        ([1, 1, 1, -1], False),
    ):
        with transaction.atomic():
            agreed(here, Judges.CROWD, [(vote, number > 0) for number, vote in enumerate(votes)])
            found = known_labels.proposals(here.campaign, Judges.CROWD)
            assert (here.dimensions[0].pk in (found[0].labels if found else {})) is is_proposed, votes
            transaction.set_rollback(True)


def test_how_checks_and_gold_items_were_answered() -> None:
    here = open_campaign.world()
    sheet = here.questionnaires[0]
    judge_actions.add_check(sheet, 1)
    entry = sheet.entries.order_by("position").first()
    QuestionnaireItem.objects.filter(pk=entry.pk).update(has_known_label=True)
    for dimension, value in zip(here.dimensions, (1, -1), strict=True):
        KnownLabel.objects.create(item=entry.item, dimension=dimension, value=value)
    done = judge_actions.hand_in(judge_actions.claim(here, here.judge()))
    (check,) = check_results.check_results([done.pk])[done.pk]
    assert (check.position, check.expected, check.answer, check.passed) == (1, "B", "B", True)
    assert [
        (each.expected, each.answer, each.hit, each.options) for each in check_results.gold_results([done.pk])[done.pk]
    ] == [
        (1, 1, True, 3),
        (-1, 1, False, 3),
    ]
    # Who did not answer a check did not pass it.
    other = judge_actions.claim(here, here.judge())
    assert [each.passed for each in check_results.check_results([other.pk])[other.pk]] == [False]
