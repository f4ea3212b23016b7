"""The pages of screening and of checks: who may, what they say, and that bad input changes nothing."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.enums import AssignmentState as S
from annotation.enums import CampaignKind, CampaignState
from annotation.judging import leases, submission
from annotation.models import Assignment, Campaign, Item, Slot, TrainingItem
from annotation.quality import known_labels
from annotation.quality.known_labels import LabelWithReason
from annotation.quality.screening import queue
from annotation.quality.screening.signals import ProposedAction
from crowdrag.assignments.lifecycle import total_paid
from crowdrag.recruitment.enums import RejectionCategory
from crowdrag.recruitment.models import PlatformAction
from crowdrag.studies.enums import MessageKind, Role
from crowdrag.studies.messages import services
from tests.annotation import judge_actions, open_campaign
from tests.annotation.quality.screened import LONG, REASON, handed_in, sent, state
from tests.annotation.shared import made_once, signed_in
from tests.factories import NOW

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


stored, here = made_once(lambda: open_campaign.world(k=3))


@pytest.fixture
def client(here: open_campaign.World) -> Client:
    return signed_in(here.study, Role.REVIEWER)


def at(name: str, here: open_campaign.World, *more: Any) -> str:
    return reverse(name, args=[here.study.slug, here.campaign.pk, *more])


def of(name: str, assignment: Assignment) -> str:
    campaign = assignment.questionnaire.campaign
    return reverse(name, args=[campaign.study.slug, campaign.pk, assignment.external_id])


def page_of(client: Client, assignment: Assignment) -> str:
    return client.get(of("screening_assignment", assignment)).content.decode()


def test_the_queue_says_what_speaks_against_each(here: open_campaign.World, client: Client) -> None:
    clean, fast = handed_in(here), handed_in(here, after=MINUTE)
    rows = client.get(at("screening", here)).context["rows"]
    assert [(row.assignment, row.proposal.what) for row in rows] == [
        (fast, ProposedAction.REJECT),
        (clean, ProposedAction.ACCEPT),
    ]
    only = client.get(at("screening", here), {"proposal": "reject"}).content.decode()
    assert [of("screening_assignment", each) in only for each in (clean, fast)] == [False, True]
    for name in queue.LISTS:
        assert client.get(at("screening", here), {"list": name}).status_code == 200
    assert client.get(at("screening", here), {"list": "x", "proposal": "y", "page": "z"}).status_code == 200
    # Of models, and of imported campaigns, nothing is screened.
    Slot.objects.filter(campaign=here.campaign).delete()
    Campaign.objects.filter(pk=here.campaign.pk).update(has_slots=False)
    assert client.get(at("screening", here)).status_code == 404
    assert client.post(at("screening_accept_clean", here), {"until": NOW.isoformat()}).status_code == 404


def test_accepting_leads_to_the_next(here: open_campaign.World, client: Client) -> None:
    first, second = handed_in(here), handed_in(here, start=NOW + MINUTE)
    assert client.post(at("screening_next", here))["Location"] == of("screening_assignment", first)
    answer = client.post(of("screening_decide", first), {"decision": "accept", "note": "Thank you."})
    assert answer["Location"] == of("screening_assignment", second)
    assert (state(first), first.transitions.latest("pk").note) == (S.ACCEPTED, "Thank you.")
    assert client.post(of("screening_decide", second), {"decision": "accept"})["Location"] == at("screening", here)


def test_a_decision_that_cannot_be_changes_nothing(here: open_campaign.World, client: Client) -> None:
    done = handed_in(here)
    cases: list[dict[str, str]] = [
        {"decision": "reject", "reason": "", "pay": "none"},
        {"decision": "reject", "reason": "No.", "pay": "part"},
        {"decision": "reject", "reason": "No.", "pay": "part", "amount": "4.01"},
        {"decision": "reject", "reason": "No.", "pay": "sometimes"},
        {"decision": "reject", "reason": "\x00", "pay": "none"},
        {"decision": "shrug"},
        {},
    ]
    found = [(client.post(of("screening_decide", done), given).status_code, state(done)) for given in cases]
    assert found == [(422, S.SUBMITTED)] * len(cases)
    assert total_paid(done) == 0


def test_rejecting_with_a_part_of_the_pay(here: open_campaign.World, client: Client) -> None:
    one = judge_actions.claim(here, here.judge())
    judge_actions.answer_all(one, NOW + LONG)
    done = submission.submit(assignment=one, comment="<script>alert(1)</script>", now=NOW + LONG)
    given = {"decision": "reject", "reason": "The same answer all along.", "pay": "part", "amount": "1.50"}
    assert client.post(of("screening_decide", done), given).status_code == 302
    assert (state(done), total_paid(done)) == (S.REJECTED, 150)
    page = page_of(client, done)
    assert of("screening_reverse", done) in page
    assert "The same answer all along." in page
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


@pytest.mark.extended
def test_what_a_platform_asks_for_is_asked_for(here: open_campaign.World, client: Client) -> None:
    done = sent(here)
    given = {"decision": "reject", "reason": "Short.", "pay": "none", "category": RejectionCategory.LOW_EFFORT}
    refused = client.post(of("screening_decide", done), given)
    page = refused.content.decode()
    assert (refused.status_code, "100" in page, "Short." in page) == (409, True, True)  # what was typed is still there
    assert client.post(of("screening_decide", done), given | {"reason": REASON}).status_code == 302
    assert PlatformAction.objects.get().details["category"] == RejectionCategory.LOW_EFFORT


@pytest.mark.extended
def test_what_another_has_open_is_taken_over_by_a_clear_word(here: open_campaign.World, client: Client) -> None:
    done, colleague = handed_in(here), here.member(Role.EDITOR)
    assert queue.REVIEW_LOCK.hold(done, colleague, timezone.now())

    def offers_a_decision() -> tuple[bool, bool]:
        page = page_of(client, done)
        return of("screening_decide", done) in page, f"{colleague} has" in page

    assert offers_a_decision() == (False, True)
    assert client.post(of("screening_decide", done), {"decision": "accept"}).status_code == 409
    assert state(done) is S.SUBMITTED
    assert str(colleague) in client.post(of("screening_lock", done)).content.decode()
    given = {"decision": "reject", "reason": "My own words.", "pay": "none"}
    refused = client.post(of("screening_decide", done), given)
    assert refused.status_code == 409
    assert [words for _label, words in refused.context["typed"]] == ["My own words."]
    assert set(given.items()) <= set(refused.context["resent"])
    assert "kept-words" in refused.content.decode()
    mine = client.post(of("screening_lock", done), {"over": "yes", **dict(refused.context["resent"])})
    assert mine.context["reject"]["reason"].value() == "My own words."
    assert mine.context["opened"] == "reject"
    assert offers_a_decision() == (True, False)
    client.post(of("screening_skip", done))
    done.refresh_from_db()
    assert done.reviewer is None


@pytest.mark.extended
def test_paying_and_including_are_two_decisions(here: open_campaign.World, client: Client) -> None:
    done = handed_in(here)
    assert client.post(of("screening_include", done), {"inclusion": "exclude"}).status_code == 422
    client.post(of("screening_include", done), {"inclusion": "exclude", "why": "A friend of ours."})
    client.post(of("screening_decide", done), {"decision": "accept"})
    assert client.post(of("screening_pay", done), {"amount": "0", "reason": "x"}).status_code in {409, 422}
    client.post(of("screening_pay", done), {"amount": "0.50", "reason": "An item was broken."})
    done.refresh_from_db()
    assert (done.state, done.is_included, total_paid(done)) == (S.ACCEPTED, False, 450)


@pytest.mark.extended
def test_a_contested_rejection_is_taken_back_from_the_desk(here: open_campaign.World, client: Client) -> None:
    done = handed_in(here)
    client.post(of("screening_decide", done), {"decision": "reject", "reason": "Too fast.", "pay": "none"})
    services.ask(
        participant=done.participant, kind=MessageKind.CONTEST, text="I read quickly.", now=NOW, about=done.external_id
    )
    participant_messages = client.get(reverse("participant_messages", args=[here.study.slug])).content.decode()
    assert of("screening_assignment", done) in participant_messages
    assert "I read quickly." in page_of(client, done)
    assert client.post(of("screening_reverse", done), {"note": ""}).status_code == 422
    assert client.post(of("screening_reverse", done), {"note": "You are right."}).status_code == 302
    assert (state(done), total_paid(done)) == (S.ACCEPTED, 400)


@pytest.mark.extended
def test_surplus_is_taken_up_while_a_place_is_free(client: Client, here: open_campaign.World) -> None:
    made, later = open_campaign.world(study=here.study, k=1, topics=1), NOW + timedelta(days=1)
    late = judge_actions.claim(made, made.judge())
    judge_actions.answer_all(late)
    leases.expire(now=later)
    quick = judge_actions.claim(made, made.judge(), later)
    submission.submit(assignment=late, now=later)
    assert (state(late), of("screening_restore", late) in page_of(client, late)) == (S.SURPLUS, False)
    assert client.post(of("screening_restore", late)).status_code == 409
    leases.give_back(assignment=quick, now=later)
    assert of("screening_restore", late) in page_of(client, late)
    client.post(of("screening_restore", late))
    assert state(late) is S.SUBMITTED


def test_all_that_nothing_speaks_against_at_once(here: open_campaign.World, client: Client) -> None:
    clean, fast = [handed_in(here) for _ in range(2)], handed_in(here, after=MINUTE)
    address = at("screening_accept_clean", here)
    assert client.get(address).status_code == 405
    for until, after in (("soon", S.SUBMITTED), (timezone.now().isoformat(), S.ACCEPTED)):
        assert client.post(address, {"until": until}).status_code == 302
        assert [state(each) for each in (*clean, fast)] == [after, after, S.SUBMITTED]


def test_nothing_of_another_study_is_found(here: open_campaign.World, client: Client) -> None:
    done = handed_in(open_campaign.world())
    other = done.questionnaire.campaign.pk
    assert client.get(reverse("screening", args=[here.study.slug, other])).status_code == 404
    assert client.get(at("screening_assignment", here, done.external_id)).status_code == 404
    assert client.post(at("screening_decide", here, done.external_id), {"decision": "accept"}).status_code == 404
    assert state(done) is S.SUBMITTED


@pytest.fixture
def draft() -> open_campaign.World:
    return open_campaign.world(state=CampaignState.DRAFT)


@pytest.fixture
def editor(draft: open_campaign.World) -> Client:
    return signed_in(draft.study)


def test_checks_are_set_in_a_draft(draft: open_campaign.World, editor: Client) -> None:
    good = {"checks": "1", "gold": "1", "instructed": "Please choose {answer}.", "nonsense": ""}
    bad = editor.post(at("campaign_checks", draft), good | {"instructed": "Do you remember? {answer}"})
    assert bad.status_code == 422
    assert "Please choose {answer}." in editor.post(at("campaign_checks", draft), good, follow=True).content.decode()
    draft.change(state=CampaignState.OPEN, opened_at=NOW)
    assert editor.post(at("campaign_checks", draft), good | {"checks": "5"}).status_code == 422
    draft.campaign.refresh_from_db()
    assert draft.campaign.design["checks"] == 1


def test_an_item_is_added_labelled_and_used(draft: open_campaign.World, editor: Client) -> None:
    left, right, *_rest, stranger = draft.responses
    items = Item.objects.filter(campaign=draft.campaign)
    before = items.count()
    for wrong in ({}, {"left": left.external_id, "right": "none"}, {"left": left.external_id, "right": stranger.pk}):
        assert editor.post(at("campaign_checks_add", draft), wrong).status_code == 302
    assert items.count() == before
    added = {"left": right.external_id, "right": left.external_id}
    address = editor.post(at("campaign_checks_add", draft), added)["Location"]
    assert items.count() == before + 1
    item, first = Item.objects.latest("pk"), draft.dimensions[0]
    assert editor.post(address, {f"label-{first.pk}": "9", "do": "gold"}).status_code == 422
    assert editor.post(address, {"do": "training"}).status_code == 422
    editor.post(address, {f"label-{first.pk}": "1", f"why-{first.pk}": "B answers it.", "do": "training"})
    assert TrainingItem.objects.get().item == item
    editor.post(address, {f"label-{first.pk}": "1", "do": "gold"})
    assert list(known_labels.gold_items(draft.campaign)) == [item]
    assert address in editor.get(at("campaign_checks", draft)).content.decode()
    # Once it is open, what is known is shown and stays.
    known_labels.set_labels(item=item, known={first.pk: LabelWithReason(1, "B answers it.")})
    draft.change(state=CampaignState.OPEN, opened_at=NOW)
    assert "B answers it." in editor.get(address).content.decode()
    assert editor.post(address, {"do": "remove"}).status_code == 422
    draft.change(state=CampaignState.DRAFT, opened_at=None)
    editor.post(address, {"do": "remove"})
    assert not Item.objects.filter(pk=item.pk).exists()


def test_known_labels_where_one_response_is_shown() -> None:
    made = open_campaign.world(kind=CampaignKind.POINTWISE, state=CampaignState.DRAFT)
    editor = signed_in(made.study)
    answer = editor.post(at("campaign_checks_add", made), {"response": made.responses[0].external_id})
    editor.post(answer["Location"], {f"label-{made.dimensions[0].pk}": "3", "do": "gold"})
    assert known_labels.known_labels(made.campaign) == {
        (known_labels.gold_items(made.campaign).get().pk, made.dimensions[0].pk): 3
    }
    assert editor.get(at("campaign_checks", made)).status_code == 200
