"""A policy is set on the form and by the API, copied, and shown on the campaign's page with its arms."""

import csv
import io
from random import Random

import numpy as np
import pytest
from django.urls import reverse

from annotation.campaigns import services as campaign_services
from annotation.campaigns.forms import CampaignForm
from annotation.enums import AssignmentPolicy
from annotation.models import Campaign, LiveCompetence
from annotation.policies import queries, services
from crowdrag.studies.enums import Role
from tests.annotation.judge_actions import claim, hand_in, sheets
from tests.annotation.open_campaign import World
from tests.annotation.shared import signed_in
from tests.api.conftest import by_token
from tests.factories import NOW, MembershipFactory

pytestmark = pytest.mark.django_db


def judged(people: int, **fields: object) -> World:
    """Return a campaign in which so many people have judged the questionnaires that its policy chose."""
    here = sheets(6, k=2, **{"policy": AssignmentPolicy.INFORMATION, "control_share": 30, **fields})
    services.refresh(campaign=here.campaign, now=NOW, rng=np.random.default_rng(0))
    for number, person in enumerate(here.judges(people)):
        hand_in(claim(here, person, rng=Random(number)))
        LiveCompetence.objects.create(
            campaign=here.campaign, participant=person, dimension=here.dimensions[0], spam_probability=0.25,
            judgments=1, computed_at=NOW,
        )  # fmt: skip
    services.refresh(campaign=here.campaign, now=NOW, rng=np.random.default_rng(1))
    return here


def page(here: World, name: str = "campaign", *more: object) -> str:
    return reverse(name, args=[here.study.slug, here.campaign.pk, *more])


def test_the_page_shows_the_policy_its_last_look_and_both_arms() -> None:
    here = judged(5)
    client = signed_in(here.study, Role.VIEWER)
    shown = client.get(page(here))
    policy = shown.context["policy"]
    assert (policy.policy, policy.control_share, policy.state.epoch, policy.state.submitted) == (
        "INFORMATION",
        30,
        1,
        5,
    )
    assert sum(arm.assigned for arm in policy.arms) == sum(arm.collected for arm in policy.arms) == 5
    assert all(arm.competence == pytest.approx(0.75) for arm in policy.arms)
    assert (policy.state.trusted_judges, policy.state.judgments) == (5, 5)
    assert policy.state.advantage > 0
    assert 0 < policy.state.effective <= 5
    assert policy.saves is (policy.state.advantage >= queries.WORTHWHILE)
    assert b'id="policy"' in shown.content
    rows = list(csv.DictReader(io.StringIO(client.get(page(here, "campaign_table", "choices")).content.decode())))
    assert len(rows) == 5
    assert {row["arm"] for row in rows} <= {"POLICY", "CONTROL"}
    assert all(0 < float(row["probability"]) <= 1 and row["weight"] for row in rows)


def test_the_page_of_a_fixed_order_says_nothing_of_policies() -> None:
    here = sheets(2)
    hand_in(claim(here, here.judge()))
    shown = signed_in(here.study).get(page(here))
    assert shown.context["policy"] is None
    assert b'id="policy"' not in shown.content
    assert list(csv.DictReader(io.StringIO(
        signed_in(here.study).get(page(here, "campaign_table", "choices")).content.decode()
    ))) == []  # fmt: skip


def test_the_setup_and_the_form_have_the_policy_and_a_copy_keeps_it() -> None:
    here = judged(1)
    client = signed_in(here.study)
    cards = {card.name: card for card in client.get(page(here, "campaign_setup")).context["cards"]}
    assert "30 %" in cards["assignment"].text
    form = CampaignForm(here.campaign)
    assert [section.name for section in form.sections if "policy" in [field.name for field in section.essential]] == [
        "assignment"
    ]
    assert not form.fields["policy"].disabled, "it can be changed while the campaign runs"
    copy = campaign_services.clone_campaign(campaign=here.campaign, now=NOW)
    assert (copy.policy, copy.control_share) == (AssignmentPolicy.INFORMATION, 30)


def test_a_script_changes_the_policy_and_is_refused_what_makes_no_sense() -> None:
    here = sheets(2)
    client = by_token(MembershipFactory(study=here.study, role=Role.EDITOR).user)
    address = f"/api/v1/studies/{here.study.slug}/campaigns/{here.campaign.pk}/"
    answer = client.patch(address, {"policy": "COMPETENCE", "control_share": 20}, format="json")
    assert (answer.status_code, answer.data["policy"], answer.data["control_share"]) == (200, "COMPETENCE", 20)
    assert Campaign.objects.get(pk=here.campaign.pk).policy == AssignmentPolicy.COMPETENCE
    for wrong in ({"policy": "GREEDY"}, {"control_share": 0}, {"control_share": 101}):
        assert client.patch(address, wrong, format="json").status_code == 400
