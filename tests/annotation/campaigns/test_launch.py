"""Campaigns are opened once, with k places a questionnaire; what cannot be changed any more; what one is warned of."""

import pytest
from django.urls import resolve

from annotation.campaigns import design, launch, problems, questionnaires, questions, services
from annotation.enums import CampaignState
from annotation.models import Campaign, Questionnaire, Slot
from crowdrag.studies.activities import Finding
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.annotation.campaigns.test_campaigns import reload, rows
from tests.concurrency import together
from tests.factories import NOW
from writing.models import Response


@pytest.mark.django_db
class TestOpening:
    def test_opened_it_has_k_places_for_each_questionnaire_and_again_no_more(self) -> None:
        campaign = draft(corpus(topics=4), k=3)
        for _ in range(2):
            opened = launch.open_campaign(campaign=campaign, now=NOW)
            assert (opened.state, opened.opened_at) == (CampaignState.OPEN, NOW)
            assert Slot.objects.filter(campaign=campaign).count() == 3 * campaign.questionnaires.count() == 18

    @pytest.mark.parametrize("gone", ["instructions", "consent_text", "pay"])
    def test_what_is_missing_is_said_and_nothing_changes(self, gone: str) -> None:
        campaign = draft(corpus(topics=4))
        Campaign.objects.filter(pk=campaign.pk).update(**{gone: None})
        with pytest.raises(problems.NotReady):
            launch.open_campaign(campaign=campaign, now=NOW)
        assert reload(campaign).state == CampaignState.DRAFT
        assert not Questionnaire.objects.exists()  # nor was anything drawn

    def test_what_was_erased_since_it_was_drawn_is_drawn_again(self) -> None:
        study = corpus(topics=4)
        campaign = questionnaires.build(campaign=draft(study), now=NOW)
        Response.objects.filter(pk=study.responses.first().pk).update(erased_at=NOW, text="")
        with pytest.raises(problems.NotReady):
            launch.open_campaign(campaign=campaign, now=NOW)
        questionnaires.build(campaign=campaign, now=NOW)
        assert launch.open_campaign(campaign=campaign, now=NOW).state == CampaignState.OPEN

    def test_an_opened_campaign_is_neither_drawn_nor_asked_nor_told_otherwise(self) -> None:
        campaign = launch.open_campaign(campaign=draft(corpus(topics=4)), now=NOW)
        before = rows(campaign)
        for state in (CampaignState.OPEN, CampaignState.PAUSED, CampaignState.CLOSED):
            Campaign.objects.filter(pk=campaign.pk).update(state=state)
            terms = services.terms_of(campaign)
            for refused in (
                lambda: questionnaires.build(campaign=campaign, now=NOW, seed=5),
                lambda: services.change_instructions(campaign=campaign, text="x", now=NOW),
                lambda: services.change_consent(
                    campaign=campaign, text="x", text_licence="CC0-1.0", timing_licence="", now=NOW
                ),
                lambda terms=terms: services.change_terms(
                    campaign=campaign, terms=terms, design=design.Design(seed=5), now=NOW
                ),
                lambda: questions.change_questions(campaign=campaign, terms=[_asked()], now=NOW),
            ):  # fmt: skip
                with pytest.raises(problems.NotDraft):
                    refused()
            for promise in ({"pay": 1}, {"minutes": 99}, {"allows_comments": False}, {"k": 9}):
                with pytest.raises(problems.BadCampaign):
                    services.change_terms(campaign=campaign, terms=terms | promise, now=NOW)
            services.change_terms(campaign=campaign, terms=terms | {"pay": terms["pay"] + 1, "fee": 7}, now=NOW)
        assert rows(campaign) == before

    def test_states_follow_one_another(self) -> None:
        campaign = draft(corpus(topics=4))
        for refused in (launch.pause_campaign, launch.close_campaign, launch.reopen_campaign):
            with pytest.raises(problems.WrongState):
                refused(campaign=campaign, now=NOW)
        campaign = launch.open_campaign(campaign=campaign, now=NOW)
        assert launch.pause_campaign(campaign=campaign, now=NOW).state == "PAUSED"
        assert launch.pause_campaign(campaign=campaign, now=NOW).state == "PAUSED"
        with pytest.raises(problems.WrongState):
            launch.open_campaign(campaign=campaign, now=NOW)  # it was opened: it is reopened
        assert launch.reopen_campaign(campaign=campaign, now=NOW).state == "OPEN"
        closed = launch.close_campaign(campaign=campaign, now=NOW)
        assert (closed.state, closed.closed_at) == ("CLOSED", NOW)
        assert launch.reopen_campaign(campaign=campaign, now=NOW).closed_at is None
        assert Slot.objects.filter(campaign=campaign).count() == 5 * campaign.questionnaires.count()

    def test_volunteers_are_paid_nothing_if_that_was_entered(self) -> None:
        study = corpus(topics=4)
        assert not launch.readiness(draft(study, "unset", pay=None)).is_ready
        campaign = draft(study, "volunteers", pay=0, wage_floor=None)
        assert launch.open_campaign(campaign=campaign, now=NOW).state == CampaignState.OPEN

    def test_what_is_missing_leads_to_the_page_where_it_is_entered(self) -> None:
        campaign = draft(corpus(topics=4), pay=None, minutes=5)
        Campaign.objects.filter(pk=campaign.pk).update(instructions=None, consent_text=None)
        campaign.dimensions.clear()
        found = launch.readiness(reload(campaign))
        for finding in (*found.problems, found.warnings[0]):
            assert isinstance(finding, Finding)
            assert resolve(finding.url.partition("#")[0]).url_name
            assert finding.action
        assert len(found.problems) == 4
        assert any(each.url.endswith("#id_pay") for each in found.problems if isinstance(each, Finding))

    def test_warnings(self) -> None:
        study = corpus(topics=4)
        usual = set(launch.readiness(draft(study)).warnings)
        warned: dict[str, set[str]] = {}
        for number, (field, value) in enumerate(
            [
                ("wage_floor", 100_000), ("wage_floor", None), ("minutes", 5), ("minimum_seconds", 5000), ("gold", 2),
                ("lease_minutes", 5), ("questionnaires_per_person", 2), ("questionnaires_per_person", None),
            ]
        ):  # fmt: skip
            found = launch.readiness(draft(study, f"number {number}", **{field: value}))
            assert found.is_ready
            warned[f"{field} {value}"] = set(found.warnings) - usual
        # Each has a warning of its own.
        assert all(warned.values()), warned
        assert len({frozenset(each) for each in warned.values()}) == len(warned)

    def test_answers_that_name_a_side_are_warned_of(self) -> None:
        campaign = draft(corpus(topics=4))
        for labels, is_warned in ((("Left", "The right one"), True), (("Response A", "All rights reserved"), False)):
            questions.change_questions(campaign=campaign, terms=[_asked(*labels)], now=NOW)
            warnings = launch.readiness(campaign).warnings
            assert any(all(label in warning for label in labels) for warning in warnings) == is_warned

    def test_the_usual_instructions_follow_the_design_and_others_stay(self) -> None:
        campaign = draft(corpus(topics=4))
        told = []
        for checks in (0, 2):
            campaign = services.change_terms(
                campaign=campaign,
                terms=services.terms_of(campaign),
                design=design.Design(checks=checks),
                now=NOW,
            )
            told.append(campaign.instructions.text)
        assert len(told[1]) > len(told[0])
        services.change_instructions(campaign=campaign, text="You get 4 questions.", now=NOW)
        changed = services.change_terms(
            campaign=campaign,
            terms=services.terms_of(campaign),
            design=design.Design(items_per_questionnaire=5),
            now=NOW,
        )
        assert reload(changed).instructions.text == "You get 4 questions."


def _asked(left: str = "A", right: str = "B") -> questions.QuestionTerms:
    return questions.QuestionTerms("n", "L", "Q?", "", [{"value": -1, "label": left}, {"value": 1, "label": right}])


@pytest.mark.django_db(transaction=True)
def test_opened_by_many_at_once_it_is_drawn_once() -> None:
    campaign = draft(corpus(topics=4), k=2)
    together([lambda: launch.open_campaign(campaign=campaign, now=NOW)] * 6)
    assert (Questionnaire.objects.count(), Slot.objects.count()) == (6, 12)
