"""Pages of a campaign before launch: what they change, what they refuse, and what they say."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import design, launch, problems, questionnaires, questions
from annotation.enums import CampaignKind, CampaignState
from annotation.models import Campaign, Questionnaire, Slot
from crowdrag.studies.enums import EntryKind, Role
from crowdrag.studies.models import EntryLink, Study
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.annotation.shared import made_once, signed_in
from tests.factories import NOW, CampaignFactory

pytestmark = pytest.mark.django_db


stored, study = made_once(lambda: corpus(topics=4))


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
    asked = {"name": "Crowd", "kind": "PAIRWISE", "source": "", "k": "5", "minutes": "20", "pay": ""}
    unpaid = client.post(page, asked)
    assert (unpaid.status_code, list(unpaid.context["form"].errors)) == (422, ["pay"])
    made = client.post(page, asked | {"pay": "5"})
    campaign = Campaign.objects.get()
    edit = url("campaign_edit", campaign)
    assert made.url == url("campaign_launch", campaign)
    setup = client.get(url("campaign_setup", campaign))
    assert not [card.name for card in setup.context["cards"] if card.is_missing]
    assert (campaign.state, campaign.campaign_dimensions.count(), campaign.k) == (CampaignState.DRAFT, 7, 5)
    assert (campaign.minutes, campaign.pay) == (20, 500)
    assert client.post(edit, given(client, campaign, pay="5.50", fee="1.10", wage_floor="12")).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.pay, campaign.fee, campaign.wage_floor) == (550, 110, 1200)
    assert design.read_design(campaign.design) == design.Design()  # a third stays a third
    page = url("campaign_launch", campaign)
    assert "198.00" in client.get(page).content.decode()  # 80 as shown, 6 questionnaires, 5 people each

    client.post(page, {"do": "draw"})
    assert campaign.questionnaires.count() == 6
    assert client.get(page).context["measures"].both_orders == 20
    assert client.post(page, {"do": "launch"}).status_code == 422
    campaign.refresh_from_db()
    assert campaign.state == CampaignState.DRAFT
    for _ in range(2):
        assert client.post(page, {"do": "open"}).url == url("campaign_participants", campaign)
    [link] = EntryLink.objects.all()
    assert link.kind == EntryKind.OPEN
    assert link.token in client.get(url("campaign_participants", campaign)).content.decode()
    campaign.refresh_from_db()
    assert (campaign.state, Slot.objects.count()) == (CampaignState.OPEN, 30)


def test_experts_need_a_source_and_no_pay_and_get_no_open_link(study: Study) -> None:
    client, source = signed_in(study), launch.open_campaign(campaign=draft(study, k=1), now=NOW)
    page = reverse("campaign_new", args=[study.slug])
    asked = {"name": "Experts", "kind": "EXPERT", "k": "5", "minutes": "20", "pay": ""}
    assert list(client.post(page, asked).context["form"].errors) == ["source"]
    assert client.post(page, asked | {"source": source.pk}).status_code == 302
    experts = Campaign.objects.get(name="Experts")
    assert (experts.k, experts.pay, experts.source) == (3, None, source)
    with pytest.raises(problems.NotReady):  # the source has no judgments
        launch.open_with_link(campaign=experts, by=None, now=NOW)
    assert not EntryLink.objects.exists()


WRONG: list[dict[str, object]] = [
    {"pay": "2.505"}, {"k": "0"}, {"minutes": "0"}, {"countries": "Germany"}, {"reverse_share": "101"},
    {"items_per_questionnaire": "0"}, {"remainder": "often"}, {"seed": "-1"}, {"name": "\x00"}, {"name": "taken"},
    {"origins": ["GOD"]}, {"lease_minutes": "99999"},
]  # fmt: skip


def test_what_is_wrong_is_said_at_its_field_and_nothing_changes(study: Study) -> None:
    client, campaign = signed_in(study), draft(study)
    draft(study, "taken")
    before, sent = Campaign.objects.filter(pk=campaign.pk).values().get(), given(client, campaign)
    for changes in WRONG:
        answer = client.post(url("campaign_edit", campaign), sent | changes)
        assert answer.status_code == 422, changes
        assert answer.context["form"].errors.keys() == changes.keys()
        assert Campaign.objects.filter(pk=campaign.pk).values().get() == before


@pytest.mark.extended
def test_once_it_was_opened_promises_are_kept(study: Study) -> None:
    client, campaign = signed_in(study), draft(study, pay=500)
    launch.open_campaign(campaign=campaign, now=NOW)
    page = url("campaign_edit", campaign)
    assert "topics" not in client.get(page).context["form"].fields
    less = client.post(page, given(client, campaign, pay="4.00", minutes="99"))
    assert (less.status_code, list(less.context["form"].errors)) == (422, ["pay"])
    more = client.post(page, given(client, campaign, pay="6.00", minutes="99", wage_floor="20", seed="7"))
    assert more.status_code == 302
    now = Campaign.objects.get(pk=campaign.pk)
    assert (now.pay, now.minutes, now.wage_floor, now.design) == (600, campaign.minutes, 2000, campaign.design)
    for name in ("campaign_instructions", "campaign_consent"):
        client.post(url(name, campaign), {"text": "Otherwise.", "text_licence": "CC0-1.0"})
    now.refresh_from_db()
    assert (now.instructions, now.consent_text) == (campaign.instructions, campaign.consent_text)
    client.post(url("campaign_questions", campaign), ROW | {"do": "save"})
    assert campaign.campaign_dimensions.count() == 7


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
    assert campaign.campaign_dimensions.count() == 7  # nothing changes before it is saved
    assert client.post(page, sent | {"do": "save"}).status_code == 302
    asked = questions.questions_of(campaign)
    assert [(each.name, each.version) for each in asked] == [
        ("quality_overall", 1), ("correctness_topical", 2), ("tone_voice", 1)
    ]  # fmt: skip
    assert asked[0].values == [-1, 1]
    assert asked[1].asks_justification


ROW = {"row": ["q0"], "name-q0": "n", "label-q0": "L", "question-q0": "Q?", "options-q0": "-1 = A\n1 = B"}
NO_QUESTIONS: list[dict[str, object]] = [
    {"options-q0": "-1 = A"}, {"options-q0": "-1 = A\n2 = B"}, {"options-q0": "-1 = A\n-1 = B\n1 = C"},
    {"options-q0": "a = A\nb = B"}, {"label-q0": ""}, {"question-q0": " "}, {"name-q0": "With Space"}, {"row": []},
]  # fmt: skip


@pytest.mark.extended
def test_questions_that_cannot_be_asked(study: Study) -> None:
    client, campaign = signed_in(study), draft(study)
    page = url("campaign_questions", campaign)
    for change in NO_QUESTIONS:
        assert client.post(page, ROW | change | {"do": "save"}).status_code == 422, change
        assert campaign.campaign_dimensions.count() == 7
    # What the database cannot hold is replaced.
    assert client.post(page, ROW | {"question-q0": "Which?\x00", "do": "save"}).status_code == 302


def test_texts_are_previewed_saved_as_versions_and_cannot_carry_script(study: Study) -> None:
    client, campaign = signed_in(study), draft(study)
    page = url("campaign_instructions", campaign)
    seen = client.post(page, {"text": "**Read** <script>alert(1)</script>", "preview": "1"}).content.decode()
    assert ("<strong>Read</strong>" in seen, "<script>alert" in seen) == (True, False)
    assert Campaign.objects.get(pk=campaign.pk).instructions == campaign.instructions
    client.post(page, {"text": "Read."})
    now = Campaign.objects.get(pk=campaign.pk)
    assert (now.instructions.text, now.instructions.version) == ("Read.", 2)
    assert client.post(page, {"text": " "}).status_code == 422
    assert client.get(page + "?usual=1").context["form"]["text"].value() == campaign.instructions.text
    client.post(url("campaign_consent", campaign), {"text": "Kept.", "text_licence": "CC0-1.0", "timing_licence": ""})
    now.refresh_from_db()
    assert (now.consent_text.text, now.consent_text.version, now.consent_text.timing_licence) == ("Kept.", 2, "")


def test_a_questionnaire_is_tried_and_nothing_is_stored(study: Study) -> None:
    client, campaign = signed_in(study, Role.VIEWER), draft(study)
    questionnaires.build(campaign=campaign, now=NOW)
    assert client.get(url("campaign_preview", campaign)).status_code == 200
    page = client.get(url("campaign_try", campaign, 1))
    assert len(page.context["page"].entries) == campaign.questionnaires.get(position=0).entries.count()
    shown = page.content.decode()
    assert "HUMAN" not in shown  # nobody sees who wrote
    assert "topic-" not in shown.split("<main")[0]
    for number in (0, 99):
        assert client.get(url("campaign_try", campaign, number)).status_code == 404
    campaign.questionnaires.update(position=None)  # as imported ones are
    assert client.get(url("campaign_try", campaign, 6)).status_code == 200


def test_before_launch_shows_what_is_not_set_and_opens_nothing(study: Study) -> None:
    campaign = draft(study, pay=None, items_per_questionnaire=1, checks=1)
    client, page = signed_in(study), url("campaign_launch", campaign)
    assert "0.00" not in client.get(page).content.decode()
    client.post(page, {"do": "open"})
    campaign.refresh_from_db()
    assert (campaign.state, Questionnaire.objects.exists()) == (CampaignState.DRAFT, False)


def test_pages_of_a_draft_are_those_of_its_study_and_kind(study: Study) -> None:
    editor, campaign = signed_in(study), draft(study)
    other, model = CampaignFactory(), CampaignFactory(study=study, judges="MODEL", inference="COMBINED")
    for name in ("campaign_setup", "campaign_edit", "campaign_questions", "campaign_instructions", "campaign_consent",
                 "campaign_launch"):  # fmt: skip
        assert editor.get(reverse(name, args=[study.slug, other.pk])).status_code == 404
    assert editor.get(url("campaign_edit", model)).status_code == 404
    assert editor.get(url("campaign_expert_items", campaign)).status_code == 404  # it asks nobody's items again
    assert editor.get(url("campaign_checks", campaign)).status_code == 200


@pytest.mark.extended
@pytest.mark.parametrize("kind", [CampaignKind.POINTWISE, CampaignKind.EXPERT])
def test_new_campaigns_of_other_kinds(study: Study, kind: str) -> None:
    client, source = signed_in(study), draft(study)
    page = reverse("campaign_new", args=[study.slug])
    essential = {"k": "3", "minutes": "20", "pay": "0"}
    sent = essential | {"name": "Other", "kind": kind, "source": source.pk if kind == CampaignKind.EXPERT else ""}
    client.post(page, sent)
    made = Campaign.objects.get(name="Other")
    assert client.get(url("campaign_edit", made)).status_code == 200
    assert client.get(url("campaign_launch", made)).status_code == 200
    assert client.get(url("campaign_setup", made)).status_code == 200
    if kind == CampaignKind.EXPERT:
        assert client.get(url("campaign_expert_items", made)).status_code == 200
        assert client.post(page, {"name": "None", "kind": kind, "source": ""}).status_code == 422
