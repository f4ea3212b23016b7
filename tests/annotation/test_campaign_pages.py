"""Pages of a campaign before launch: what they change, what they refuse, and what they say."""

from copy import deepcopy

import pytest
from django.test import Client
from django.urls import reverse

from annotation.domain import campaigns
from annotation.enums import CampaignKind, CampaignState
from annotation.models import Campaign, Place, Questionnaire
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import NOW, CampaignFactory, MembershipFactory, QuestionnaireFactory, StudyFactory

from .corpus_to_judge import corpus, draft

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    return corpus(topics=4)


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


def signed_in(study: Study, role: Role = Role.EDITOR) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def url(name: str, campaign: Campaign, *rest: object) -> str:
    return reverse(name, args=[campaign.study.slug, campaign.pk, *rest])


def given(client: Client, campaign: Campaign, **changes: object) -> dict[str, object]:
    """What the form sends unless somebody changes it."""
    form = client.get(url("campaign_edit", campaign)).context["form"]
    found = {field.html_name: field.value() for field in form if not field.field.disabled}
    shown = {name: "" if value is None else value for name, value in found.items() if value is not False}
    return shown | changes


def test_a_campaign_is_made_set_up_drawn_and_opened(study: Study) -> None:
    client = signed_in(study)
    page = reverse("campaign_new", args=[study.slug])
    assert client.get(page).status_code == 200
    assert not Campaign.objects.exists()  # looking at it makes nothing
    made = client.post(page, {"name": "Crowd", "kind": "PAIRWISE", "source": ""})
    campaign = Campaign.objects.get()
    assert made.url == url("campaign_edit", campaign)
    assert (campaign.state, campaign.asked.count(), campaign.k) == (CampaignState.DRAFT, 7, 5)
    edit = url("campaign_edit", campaign)
    assert client.post(edit, given(client, campaign, pay="5.50", fee="1.10", wage_floor="12")).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.pay, campaign.fee, campaign.wage_floor) == (550, 110, 1200)
    assert campaigns.design.read(campaign.design) == campaigns.Design()  # a third stays a third
    page = url("campaign_open", campaign)
    text = client.get(page).content.decode()
    assert "USD\u00a0198.00" in text  # 80 as shown, 6 questionnaires, 5 people each
    client.post(page, {"do": "draw"})
    assert campaign.questionnaires.count() == 6
    assert client.get(page).context["measures"].both_orders == 20
    assert client.post(page, {"do": "open"}).url == url("campaign", campaign)
    campaign.refresh_from_db()
    assert (campaign.state, Place.objects.count()) == (CampaignState.OPEN, 30)


WRONG: list[dict[str, object]] = [
    {"pay": "2.505"}, {"k": "0"}, {"minutes": "0"}, {"countries": "Germany"}, {"reverse_share": "101"},
    {"items_per_questionnaire": "0"}, {"remainder": "often"}, {"seed": "-1"}, {"name": "\x00"}, {"name": "taken"},
    {"origins": ["GOD"]}, {"lease_minutes": "99999"},
]  # fmt: skip


def test_what_is_wrong_is_said_at_its_field_and_nothing_changes(study: Study) -> None:
    client, campaign = signed_in(study), draft(study)
    draft(study, "taken")
    before = Campaign.objects.filter(pk=campaign.pk).values().get()
    sent = given(client, campaign)
    found = []
    for changes in WRONG:
        answer = client.post(url("campaign_edit", campaign), sent | changes)
        fields = list(answer.context["form"].errors) if answer.status_code == 422 else []
        found.append((answer.status_code, fields, Campaign.objects.filter(pk=campaign.pk).values().get() == before))
    assert found == [(422, list(changes), True) for changes in WRONG]


def test_once_it_was_opened_promises_are_kept(study: Study) -> None:
    client, campaign = signed_in(study), draft(study, pay=500)
    campaigns.open(campaign=campaign, now=NOW)
    page = url("campaign_edit", campaign)
    assert "topics" not in client.get(page).context["form"].fields
    less = client.post(page, given(client, campaign, pay="4.00", minutes="99"))
    assert "the pay can rise, and not fall" in less.content.decode()
    more = client.post(page, given(client, campaign, pay="6.00", minutes="99", wage_floor="20", seed="7"))
    assert more.status_code == 302
    now = Campaign.objects.get(pk=campaign.pk)
    assert (now.pay, now.minutes, now.wage_floor, now.design) == (600, campaign.minutes, 2000, campaign.design)
    for name in ("campaign_instructions", "campaign_consent"):
        answer = client.post(url(name, campaign), {"text": "Otherwise.", "text_licence": "CC0-1.0"})
        assert "was opened" in answer.content.decode()
    assert Campaign.objects.get(pk=campaign.pk).instructions == campaign.instructions
    rows = {"row": ["q0"], "name-q0": "other", "label-q0": "O", "question-q0": "O?", "options-q0": "-1=A\n1=B"}
    client.post(url("campaign_questions", campaign), rows | {"do": "save"})
    assert campaign.asked.count() == 7


def test_questions_are_picked_ordered_added_and_reworded(study: Study) -> None:
    client, campaign = signed_in(study), draft(study)
    page = url("campaign_questions", campaign)
    rows = client.get(page).context["rows"]
    sent: dict[str, object] = {"row": [rows[6].key, rows[0].key, "q9"]}
    for row in (rows[6], rows[0]):
        sent |= {
            f"{name}-{row.key}": getattr(row, name) for name in ("name", "label", "question", "description", "options")
        }
    sent |= {f"question-{rows[0].key}": "Which one is about the query?", f"why-{rows[0].key}": "on"}
    sent |= {"label-q9": "Tone & voice", "question-q9": "Which is kinder?", "options-q9": "-1 = Left\n1 = Right"}
    moved = client.post(page, sent | {"do": "up:q9"})
    assert [row.key for row in moved.context["rows"]] == [rows[6].key, "q9", rows[0].key]
    assert campaign.asked.count() == 7  # nothing changes before it is saved
    assert client.post(page, sent | {"do": "save"}).status_code == 302
    asked = campaigns.questions.of(campaign)
    assert [(each.name, each.version) for each in asked] == [
        ("quality_overall", 1), ("correctness_topical", 2), ("tone_voice", 1)
    ]  # fmt: skip
    assert asked[0].values == [-1, 1]
    assert asked[1].asks_justification


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"options-q0": "-1 = A"}, "needs from 2"),
        ({"options-q0": "-1 = A\n2 = B"}, "one asks for the left one"),
        ({"options-q0": "-1 = A\n-1 = B\n1 = C"}, "same value"),
        ({"options-q0": "a = A\nb = B"}, "no whole number"),
        ({"label-q0": ""}, "say what it is called"),
        ({"question-q0": "Which?\x00"}, None),
        ({"question-q0": " "}, "has no text"),
        ({"name-q0": "With Space"}, "short name"),
        ({"row": []}, "at least one question"),
    ],
)
def test_questions_that_cannot_be_asked(study: Study, change: dict, said: str | None) -> None:
    client, campaign = signed_in(study), draft(study)
    sent = {"row": ["q0"], "name-q0": "n", "label-q0": "L", "question-q0": "Q?", "options-q0": "-1 = A\n1 = B"}
    answer = client.post(url("campaign_questions", campaign), sent | change | {"do": "save"})
    if said is None:  # what the database cannot hold is replaced
        assert answer.status_code == 302
    else:
        assert answer.status_code == 422
        assert said in answer.content.decode()
        assert campaign.asked.count() == 7


def test_texts_are_previewed_saved_as_versions_and_cannot_carry_script(study: Study) -> None:
    client, campaign = signed_in(study), draft(study)
    page = url("campaign_instructions", campaign)
    seen = client.post(page, {"text": "**Read** <script>alert(1)</script>", "preview": "1"}).content.decode()
    assert "<strong>Read</strong>" in seen
    assert "<script>alert" not in seen
    assert Campaign.objects.get(pk=campaign.pk).instructions == campaign.instructions
    client.post(page, {"text": "Read."})
    now = Campaign.objects.get(pk=campaign.pk)
    assert (now.instructions.text, now.instructions.version) == ("Read.", 2)
    assert client.post(page, {"text": " "}).status_code == 422
    usual = client.get(page + "?usual=1").content.decode()
    assert "what makes an answer useful" in usual
    page = url("campaign_consent", campaign)
    client.post(page, {"text": "We keep it.", "text_licence": "CC0-1.0", "timing_licence": ""})
    now.refresh_from_db()
    assert (now.consent_text.text, now.consent_text.version, now.consent_text.timing_licence) == ("We keep it.", 2, "")


def test_a_questionnaire_is_tried_and_nothing_is_stored(study: Study) -> None:
    client, campaign = signed_in(study, Role.VIEWER), draft(study)
    campaigns.build(campaign=campaign, now=NOW)
    text = client.get(url("campaign_preview", campaign)).content.decode()
    assert "what makes an answer useful" in text
    page = client.get(url("campaign_try", campaign, 1))
    assert len(page.context["page"].entries) == campaign.questionnaires.get(position=0).entries.count()
    shown = page.content.decode()
    assert "HUMAN" not in shown  # nobody sees who wrote
    assert "topic-" not in shown.split("<main")[0]
    assert client.get(url("campaign_try", campaign, 99)).status_code == 404
    assert client.get(url("campaign_try", campaign, 0)).status_code == 404
    campaign.questionnaires.update(position=None)  # as imported ones are
    assert client.get(url("campaign_try", campaign, 6)).status_code == 200


def test_one_of_an_imported_campaign_is_tried_likewise(study: Study) -> None:
    imported = QuestionnaireFactory(campaign__study=study)
    assert signed_in(study).get(url("campaign_try", imported.campaign, 1)).status_code == 200


def test_checks_are_set_in_a_draft(study: Study) -> None:
    client, campaign = signed_in(study), draft(study)
    assert not campaign.has_places
    assert client.get(url("campaign_checks", campaign)).status_code == 200


def test_who_may(study: Study) -> None:
    campaign = draft(study)
    other = CampaignFactory()
    viewer, editor = signed_in(study, Role.REVIEWER), signed_in(study)
    for name in ("campaign_edit", "campaign_questions", "campaign_instructions", "campaign_consent", "campaign_open"):
        assert viewer.get(url(name, campaign)).status_code == 403
        assert editor.get(url(name, campaign)).status_code == 200
        assert editor.get(reverse(name, args=[study.slug, other.pk])).status_code == 404
    model = CampaignFactory(study=study, judges="MODEL", inference="COMBINED")
    assert editor.get(url("campaign_edit", model)).status_code == 404
    assert editor.get(url("campaign_items", campaign)).status_code == 404  # it asks nobody's items again


def test_what_cannot_be_drawn_or_opened_is_said() -> None:
    study = StudyFactory()
    campaign = draft(study, pay=0)
    client = signed_in(study)
    page = url("campaign_open", campaign)
    text = client.get(page).content.decode()
    assert "Say what a questionnaire pays." in text
    assert "No two responses to one topic fit" in text
    for do in ("draw", "open", "nonsense"):
        client.post(page, {"do": do})
    campaign.refresh_from_db()
    assert campaign.state == CampaignState.DRAFT
    assert not Questionnaire.objects.exists()


def test_before_launch_says_what_is_not_set_and_counts_in_words(study: Study) -> None:
    campaign = draft(study, pay=None, items_per_questionnaire=1, checks=1)
    text = signed_in(study).get(url("campaign_open", campaign)).content.decode()
    assert text.count("<dd>not set</dd>") == 2
    assert "0.00" not in text
    assert "of 1 item<" in text
    assert "1 attention check." in text
    Campaign.objects.filter(pk=campaign.pk).update(pay=550)
    assert "not set" not in signed_in(study).get(url("campaign_open", campaign)).content.decode()


@pytest.mark.parametrize("kind", [CampaignKind.POINTWISE, CampaignKind.EXPERT])
def test_new_campaigns_of_other_kinds(study: Study, kind: str) -> None:
    client, source = signed_in(study), draft(study)
    page = reverse("campaign_new", args=[study.slug])
    sent = {"name": "Other", "kind": kind, "source": source.pk if kind == CampaignKind.EXPERT else ""}
    client.post(page, sent)
    made = Campaign.objects.get(name="Other")
    assert client.get(url("campaign_edit", made)).status_code == 200
    assert client.get(url("campaign_open", made)).status_code == 200
    if kind == CampaignKind.EXPERT:
        assert client.get(url("campaign_items", made)).status_code == 200
        assert client.post(page, {"name": "None", "kind": kind, "source": ""}).status_code == 422
