"""Campaigns before launch: drafted, drawn, forecast, opened; what cannot be changed any more; experts."""

from collections import Counter
from dataclasses import replace

import pytest

from annotation.campaign_types import default_dimensions
from annotation.campaigns import (
    candidates,
    design,
    forecasts,
    launch,
    problems,
    questionnaires,
    questions,
    services,
)
from annotation.campaigns.design import Design
from annotation.enums import CampaignKind, Judges
from annotation.models import Campaign, Item, KnownLabel, Pair, QuestionnaireItem, TrainingItem
from annotation.quality import known_labels
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.factories import NOW, CampaignFactory, ResponseFactory, StudyFactory, WritingTaskFactory
from writing.enums import Origin, TaskState
from writing.models import Response

Rows = list[tuple[str, list[tuple[int, int | None]]]]


def rows(campaign: Campaign) -> Rows:
    """What was drawn: questionnaires in order, with their items' texts from left to right."""
    return [
        (each.external_id, list(each.entries.order_by("position").values_list("item__pair__a", "item__pair__b")))
        for each in campaign.questionnaires.order_by("position")
    ]


def reload(campaign: Campaign) -> Campaign:
    return Campaign.objects.get(pk=campaign.pk)


@pytest.mark.django_db
class TestDrafting:
    def test_a_draft_has_the_questions_and_texts_of_the_paper(self) -> None:
        campaign = draft(StudyFactory())
        assert (campaign.state, campaign.judges, campaign.k, campaign.has_slots) == ("DRAFT", "CROWD", 5, False)
        asked = questions.questions_of(campaign)
        assert len(asked) == 7
        assert [each.values for each in asked] == [[-1, 0, 1]] * 6 + [[-1, 1]]
        assert campaign.instructions is not None
        assert all(each.label in campaign.instructions.text for each in asked)
        assert "CC-BY-4.0" in campaign.consent_text.text
        assert design.read_design(campaign.design) == Design()

    def test_pointwise_asks_four_point_scales(self) -> None:
        campaign = draft(StudyFactory(), kind=CampaignKind.POINTWISE)
        assert {tuple(each.values) for each in questions.questions_of(campaign)} == {(-3, -1, 1, 3)}
        assert campaign.instructions != draft(campaign.study, "pairwise").instructions

    def test_two_with_the_same_texts_and_questions_share_their_versions_whatever_models_are_asked(self) -> None:
        study = StudyFactory()
        one = draft(study)
        model = CampaignFactory(study=study, judges=Judges.MODEL, inference="COMBINED")
        questions.set_questions(model, default_dimensions.ensure_pairwise(study=study, now=NOW, always_neither=True))
        other = draft(study, "other")
        assert (one.instructions, one.consent_text) == (other.instructions, other.consent_text)
        assert questions.questions_of(one) == questions.questions_of(other)

    def test_nonsense_makes_nothing(self) -> None:
        study = StudyFactory()
        draft(study, "taken")
        for fields, wrong in (
            ({"name": "taken"}, "name"), ({"kind": "EXPERT"}, "source"), ({"kind": "NONE"}, "kind"), ({"k": 0}, "k"),
            ({"pay": -1}, "pay"), ({"reverse_share": 1.5}, "reverse_share"),
            ({"reverse_share": float("nan")}, "reverse_share"), ({"origins": ("GOD",)}, "origins"),
            ({"items_per_questionnaire": 0}, "items_per_questionnaire"), ({"topics": ("nope",)}, "topics"),
            ({"styles": ("nope",)}, "styles"), ({"eligibility": {"languages": ["English"]}}, "languages"),
            ({"eligibility": {"approval_rate": 101}}, "approval_rate"),
        ):  # fmt: skip
            with pytest.raises(problems.BadCampaign) as raised:
                draft(study, **fields)
            assert set(raised.value.problems) == {wrong}
        assert Campaign.objects.count() == 1

    def test_a_design_is_read_as_it_was_written(self) -> None:
        told = Design(("t",), ("essay",), ("HUMAN",), 3, 4, 0.25, 10, "fill", 7, 2, 1, "picked", 12, (3, 5))
        kept = design.dump_design(told, {"check_texts": {"nonsense": ["x"]}})
        assert kept["check_texts"] == {"nonsense": ["x"]}
        assert design.read_design(kept) == told
        assert design.read_design({}) == Design()
        chosen = replace(told, chosen_pairs=(("a", "b"), ("c", "d")))
        assert design.read_design(design.dump_design(chosen, kept)) == chosen
        assert design.dump_design(told, design.dump_design(chosen, kept)) == kept

    def test_a_pair_is_chosen_once_in_either_order(self) -> None:
        checked = design.check_design(Design(chosen_pairs=(("a", "b"), ("c", "d"), ("b", "a"))))
        assert checked.chosen_pairs == (("a", "b"), ("c", "d"))


@pytest.mark.django_db
class TestDrawing:
    @pytest.mark.extended
    def test_the_numbers_of_the_paper(self) -> None:
        """65 topics with six responses: 975 pairs, a third reversed, 15 a questionnaire, five people each."""
        campaign = draft(corpus(topics=65))
        told = forecasts.forecast(campaign)
        assert (told.units, told.both_orders, told.items, told.questionnaires) == (975, 325, 1300, 87)
        assert (told.judgments, told.people, told.assignments) == (1300 * 5 * 7, 435, 435)
        assert (told.wage, told.total) == (1320, 435 * 550)
        questionnaires.build(campaign=campaign, now=NOW)
        found = questionnaires.measures(campaign)
        assert (found.items, found.both_orders, found.questionnaires) == (1300, 325, 87)
        assert (found.fewest, found.most) == (14, 15)
        assert found.same_topic == found.same_text == found.left_right == 1
        assert found.spread is not None
        assert found.spread < 1.01
        assert (Pair.objects.count(), Item.objects.count()) == (1300, 1300)
        orders = Counter(tuple(sorted(pair)) for pair in Pair.objects.values_list("a", "b"))
        assert Counter(orders.values()) == {1: 650, 2: 325}
        after = forecasts.forecast(campaign)
        assert after == replace(told, is_drawn=True, words=after.words)

    def test_the_same_seed_draws_the_same(self) -> None:
        campaign = draft(corpus(topics=5), gold=0, checks=1)
        first = rows(questionnaires.build(campaign=campaign, now=NOW))
        texts = list(campaign.questionnaires.order_by("position").values_list("checks__text", "checks__position"))
        assert rows(questionnaires.build(campaign=campaign, now=NOW)) == first
        again = list(campaign.questionnaires.order_by("position").values_list("checks__text", "checks__position"))
        assert again == texts
        assert rows(questionnaires.build(campaign=campaign, now=NOW, seed=1)) != first
        assert design.read_design(reload(campaign).design).seed == 1
        assert rows(questionnaires.build(campaign=campaign, now=NOW, seed=0)) == first

    def test_only_accepted_and_included_responses_with_a_text_are_drawn(self) -> None:
        study = corpus(topics=1)
        topic = study.topics.get()
        some = list(study.responses.order_by("pk"))
        Response.objects.filter(pk=some[0].pk).update(is_included=False)
        Response.objects.filter(pk=some[1].pk).update(erased_at=NOW, text="")
        Response.objects.filter(pk=some[2].pk).update(words=0)
        for state, accepted in ((TaskState.ACCEPTED, True), (TaskState.SUBMITTED, False), (TaskState.REJECTED, False)):
            task = WritingTaskFactory(topic=topic, claimed=True, state=state)
            written = ResponseFactory(topic=topic, task=task, participant=task.participant, style=task.style)
            if accepted:
                some.append(written)
        found = {text.key for text in candidates.responses(draft(study), Design())}
        assert found == {each.pk for each in some[3:]}

    def test_responses_are_chosen_by_topic_style_and_origin(self) -> None:
        study = corpus(topics=3)
        campaign = draft(study)
        topics = list(study.topics.order_by("pk").values_list("external_id", flat=True))

        def count(**told: object) -> int:
            return len(questionnaires.pool(campaign, Design(**told)).texts)

        assert count() == 18
        assert count(topics=tuple(topics[:2])) == 12
        assert count(origins=(Origin.HUMAN,)) == 9
        assert count(origins=(Origin.SYSTEM,)) == 0
        assert count(styles=("essay",)) == 18
        assert count(styles=("news",)) == 0
        assert count(topic_sample=2) == 12

    def test_a_topic_with_one_response_is_told(self) -> None:
        study = corpus(topics=2)
        corpus(topics=1, origins=(Origin.HUMAN,), study=StudyFactory())
        lonely = ResponseFactory(topic__study=study)
        told = forecasts.forecast(draft(study))
        assert (told.topics, told.single) == (2, 1)
        assert any("1" in warning for warning in launch.readiness(draft(study, "b")).warnings)
        assert lonely.topic_id not in {each.topic for each in questionnaires.draw(draft(study, "c"), Design())}

    def test_what_a_researcher_chose_stays_and_is_not_drawn_besides(self) -> None:
        study = corpus(topics=4)
        campaign = draft(study, gold=1)
        left, right, *_more, learnt_a, learnt_b = study.responses.filter(topic=study.topics.first()).order_by("pk")
        known = known_labels.add_pair(campaign=campaign, left=left, right=right)
        learnt = known_labels.add_pair(campaign=campaign, left=learnt_a, right=learnt_b)
        TrainingItem.objects.create(campaign=campaign, item=learnt, position=0)
        for item in (known, learnt):
            KnownLabel.objects.create(item=item, dimension=questions.questions_of(campaign)[0], value=1)
        for _ in range(2):
            questionnaires.build(campaign=campaign, now=NOW)
            drawn = QuestionnaireItem.objects.filter(questionnaire__campaign=campaign, has_known_label=False)
            shown = [{entry.item.pair.a_id, entry.item.pair.b_id} for entry in drawn.select_related("item__pair")]
            assert {left.pk, right.pk} not in shown
            assert {learnt_a.pk, learnt_b.pk} not in shown
            entries = QuestionnaireItem.objects.filter(questionnaire__campaign=campaign, has_known_label=True)
            assert entries.count() == campaign.questionnaires.count()
            assert Item.objects.filter(pk__in=[known.pk, learnt.pk]).count() == 2
        told = forecasts.forecast(campaign)
        assert told.people == told.assignments  # one gold item: whoever has seen it sees no other questionnaire

    def test_pointwise_items_are_responses(self) -> None:
        campaign = draft(corpus(topics=5), kind=CampaignKind.POINTWISE, items_per_questionnaire=10)
        questionnaires.build(campaign=campaign, now=NOW)
        found = questionnaires.measures(campaign)
        assert (found.items, found.questionnaires, found.both_orders, found.left_right) == (30, 3, 0, 0)
        assert Item.objects.filter(response__isnull=False, pair__isnull=True).count() == 30

    def test_a_remainder_is_short_or_filled(self) -> None:
        study = corpus(topics=4)  # 60 pairs, 20 of them reversed
        for remainder, sizes in (("even", {13, 14}), ("short", {15, 5}), ("fill", {15})):
            campaign = draft(study, remainder, remainder=remainder)
            questionnaires.build(campaign=campaign, now=NOW)
            assert {each.entries.count() for each in campaign.questionnaires.all()} == sizes

    @pytest.mark.parametrize(
        ("topics", "reverse_share", "remainder", "sizes"),
        [(1, 1.0, "even", [1, 1]), (6, 1 / 3, "even", [4, 4]), (6, 1 / 3, "fill", [4, 4]), (8, 1.0, "short", [8, 8])],
    )
    def test_a_small_campaign_has_two_questionnaires_for_the_two_orders(
        self, topics: int, reverse_share: float, remainder: str, sizes: list[int]
    ) -> None:
        study = corpus(topics=topics, origins=(Origin.HUMAN, Origin.MODEL))
        campaign = draft(study, reverse_share=reverse_share, remainder=remainder)
        told = forecasts.forecast(campaign)
        assert (told.questionnaires, told.fewest, told.most) == (2, *sizes)
        assert launch.readiness(campaign).is_ready
        launch.open_campaign(campaign=campaign, now=NOW)
        assert sorted(each.entries.count() for each in campaign.questionnaires.all()) == sizes

    def test_the_default_minimum_follows_the_minutes_and_a_chosen_one_stays(self) -> None:
        def changed(campaign: Campaign, **terms: int | None) -> int | None:
            return services.change_terms(campaign=campaign, terms=terms, now=NOW).minimum_seconds

        campaign = draft(corpus(topics=4))
        assert campaign.minimum_seconds == 600
        assert [changed(campaign, minutes=minutes) for minutes in (10, 12, 60, 25)] == [240, 288, 600, 600]
        assert changed(campaign, minutes=10, minimum_seconds=600) == changed(campaign, minutes=12) == 600
        assert changed(campaign, minimum_seconds=None) is changed(campaign, minutes=30) is None

    def test_another_design_drops_what_was_drawn_and_other_terms_do_not(self) -> None:
        campaign = draft(corpus(topics=4))
        questionnaires.build(campaign=campaign, now=NOW)
        terms = services.terms_of(campaign)
        services.change_terms(campaign=campaign, terms=terms | {"pay": 700}, design=Design(), now=NOW)
        assert questionnaires.is_drawn(campaign)
        services.change_terms(campaign=campaign, terms=terms, design=Design(seed=9), now=NOW)
        assert not questionnaires.is_drawn(campaign)
        assert not Item.objects.filter(campaign=campaign).exists()
