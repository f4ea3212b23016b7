"""Experts judge what a crowd found hard; and the sample of the published corpus is drawn as the paper did."""

import os
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils.html import escape

from annotation.campaigns import candidates, design, forecasts, launch, problems, questionnaires, questions, services
from annotation.campaigns.design import Design
from annotation.enums import AssignmentState, CampaignKind, Judges
from annotation.models import Assignment, Campaign, Judgment
from crowdrag.studies.models import Study
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.annotation.imports.published_corpora import bring_in
from tests.annotation.shared import signed_in
from tests.factories import NOW, ParticipantFactory, StudyFactory


@pytest.mark.django_db
class TestExperts:
    def judged(self, study: Study) -> Campaign:
        """A campaign whose items were judged by four: the first ones split on most questions, the last ones agreed."""
        campaign = questionnaires.build(campaign=draft(study), now=NOW)
        people = [ParticipantFactory(study=study) for _ in range(4)]
        asked = questions.questions_of(campaign)
        judgments = []
        for questionnaire in campaign.questionnaires.all():
            held = [
                Assignment.objects.create(questionnaire=questionnaire, participant=each, state=AssignmentState.ACCEPTED)
                for each in people
            ]
            for entry in questionnaire.entries.all():
                split = entry.item_id % 8  # on so many questions there is no majority
                judgments += [
                    Judgment(
                        assignment=mine, item_id=entry.item_id, dimension=dimension,
                        value=(-1, -1, 1, 1)[n] if d < split else 1,
                    )
                    for n, mine in enumerate(held)
                    for d, dimension in enumerate(asked)
                ]  # fmt: skip
        Judgment.objects.bulk_create(judgments)
        return campaign

    def test_the_hard_ones_are_those_without_majorities(self) -> None:
        source = self.judged(corpus(topics=4))
        found = candidates.hardest_items(source)
        assert len(found) == 80
        for each in found:
            assert each.majorities == 7 - each.item % 8 if each.item % 8 < 8 else 0
            assert each.is_minimal == (each.majorities <= 4)  # 5 of 7 are differentiable
        assert [each.majorities for each in found] == sorted(each.majorities for each in found)

    def test_experts_judge_the_hard_ones_as_they_were_shown(self) -> None:
        study = corpus(topics=4)
        source = self.judged(study)
        campaign = draft(study, "experts", kind=CampaignKind.EXPERT, source=source, rule_items=12, pay=None, k=3)
        assert (campaign.judges, campaign.kind) == (Judges.EXPERT, CampaignKind.EXPERT)
        assert questions.questions_of(campaign) == questions.questions_of(source)
        launch.open_campaign(campaign=campaign, now=NOW)
        chosen = {item.pair_id: item for item in campaign.items.all()}
        assert len(chosen) == 12
        both = {tuple(sorted((item.pair.a_id, item.pair.b_id))) for item in chosen.values()}
        assert len(both) == 12  # a pair in one of its orders
        once: dict[tuple[int, ...], int] = {}
        for each in candidates.hardest_items(source):
            once.setdefault(each.both, each.majorities)
        hardest = sorted(once.values())[:12]
        by_pair = {item.pair_id: item.pk for item in source.items.all()}
        majorities = {each.item: each.majorities for each in candidates.hardest_items(source)}
        assert sorted(majorities[by_pair[pair]] for pair in chosen) == hardest

    def test_minimal_and_picked_ones(self) -> None:
        study = corpus(topics=4)
        source = self.judged(study)
        hard = candidates.hardest_items(source)
        minimal = draft(study, "m", kind="EXPERT", source=source, rule="minimal", rule_items=10, seed=3)
        drawn = questionnaires.draw(minimal, design.read_design(minimal.design))
        are_minimal = {each.both for each in hard if each.is_minimal}
        assert len(drawn) == 10
        assert {each.both for each in drawn} <= are_minimal
        picked = tuple(each.item for each in hard[-5:])
        campaign = draft(study, "p", kind="EXPERT", source=source, rule="picked", picked=picked)
        drawn = questionnaires.draw(campaign, design.read_design(campaign.design))
        assert sorted(each.both for each in drawn) == sorted(each.both for each in hard[-5:])
        with pytest.raises(problems.BadCampaign):
            services.change_terms(
                campaign=campaign, terms=services.terms_of(campaign), now=NOW,
                design=Design(rule="picked", picked=(999_999_999,)),
            )  # fmt: skip

    def test_a_researcher_picks_from_the_list(self) -> None:
        study = corpus(topics=4)
        source = self.judged(study)
        campaign = draft(study, "p", kind="EXPERT", source=source)
        client = signed_in(study)
        page = reverse("campaign_expert_items", args=[study.slug, campaign.pk])
        first, second = client.get(page), client.get(page + "?page=2")
        assert (len(first.context["rows"]), len(second.context["rows"])) == (50, 30)
        chosen = [each.item for each, *_rest in first.context["rows"][:2]]
        _each, item, responses, _picked = first.context["rows"][0]
        assert [response.pk for response in responses] == [item.pair.a_id, item.pair.b_id]
        for response in responses:  # nobody knows a pair by its ids
            assert escape(response.text) in first.content.decode()
        more = second.context["rows"][0][0].item
        client.post(page, {"item": [*chosen, more, "x", "²"]})  # what is not on the page is not picked
        client.post(page + "?page=2", {"item": [more]})
        kept = design.read_design(Campaign.objects.get(pk=campaign.pk).design)
        assert (kept.rule, kept.picked) == ("picked", tuple(sorted([*chosen, more])))
        client.post(page, {})
        assert design.read_design(Campaign.objects.get(pk=campaign.pk).design).picked == (more,)

    def test_without_judgments_there_is_nothing_to_ask(self) -> None:
        study = corpus(topics=4)
        campaign = draft(study, "e", kind="EXPERT", source=draft(study))
        with pytest.raises(problems.NotReady):
            launch.open_campaign(campaign=campaign, now=NOW)


DATA = os.environ.get("CROWDRAG_DATA", "")


@pytest.mark.django_db
@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the sample of the corpus is not here")
def test_the_sample_is_drawn_as_the_paper_did() -> None:
    """150 topics with six responses each: 40 of them are drawn as 40 of 65 were."""
    study = StudyFactory()
    bring_in(study, Path(DATA) / "crowdrag25")
    campaign = draft(study, "again", topic_sample=40)
    told = forecasts.forecast(campaign)
    assert (told.topics, told.units, told.both_orders, told.items) == (40, 600, 200, 800)
    questionnaires.build(campaign=campaign, now=NOW)
    found = questionnaires.measures(campaign)
    assert (found.questionnaires, found.same_topic, found.same_text, found.left_right) == (54, 1, 1, 1)
    assert found.spread is not None
    assert found.spread < 1.02
    source = Campaign.objects.get(study=study, name="crowd-pairwise")
    hard = candidates.hardest_items(source)
    assert len(hard) == 840
    experts = draft(study, "experts", kind="EXPERT", source=source, rule_items=30)
    assert len(questionnaires.draw(experts, design.read_design(experts.design))) == 30
