"""The pages of screening and of checks: who may, what they say, and that bad input changes nothing."""

from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain import assignments
from annotation.domain.checks import gold
from annotation.domain.checks.gold import Label
from annotation.domain.screening import queue
from annotation.enums import AssignmentState as S
from annotation.enums import CampaignKind, CampaignState
from annotation.models import Assignment, Campaign, Item, Place, TrainingItem
from crowdrag.recruitment.enums import RejectionCategory
from crowdrag.recruitment.models import PlatformOrder
from crowdrag.studies.domain import enquiring
from crowdrag.studies.enums import EnquiryKind, Role
from tests.factories import NOW, UserFactory

from . import campaigns, judging
from .screened import LONG, REASON, handed_in, sent, state

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def built(shared_rows: None) -> campaigns.World:
    return campaigns.world(k=3)


@pytest.fixture
def here(built: campaigns.World, db: None) -> campaigns.World:
    return deepcopy(built)


@pytest.fixture
def reviewer(here: campaigns.World, client: Client) -> Any:
    user = here.member()
    client.force_login(user)
    return user


def at(name: str, here: campaigns.World, *more: Any) -> str:
    return reverse(name, args=[here.study.slug, here.campaign.pk, *more])


def of(name: str, assignment: Assignment) -> str:
    campaign = assignment.questionnaire.campaign
    return reverse(name, args=[campaign.study.slug, campaign.pk, assignment.external_id])


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_the_queue_says_what_speaks_against_each(here: campaigns.World, reviewer: Any, client: Client) -> None:
    clean, fast = handed_in(here), handed_in(here, after=MINUTE)
    page = text(client.get(at("screening", here)))
    assert "Too fast" in page
    assert "reject, unless there is a cause" in page
    first, second = (page.index(of("screening_assignment", each)) for each in (fast, clean))
    assert first < page.rindex("Too fast") < second < page.rindex("nothing speaks against it")
    only = text(client.get(at("screening", here), {"proposal": "reject"}))
    assert of("screening_assignment", fast) in only
    assert of("screening_assignment", clean) not in only
    for name in queue.LISTS:
        assert client.get(at("screening", here), {"list": name}).status_code == 200
    assert client.get(at("screening", here), {"list": "x", "proposal": "y", "page": "z"}).status_code == 200


def test_accepting_leads_to_the_next(here: campaigns.World, reviewer: Any, client: Client) -> None:
    first, second = handed_in(here), handed_in(here, start=NOW + MINUTE)
    answer = client.post(at("screening_next", here))
    assert answer["Location"] == of("screening_assignment", first)
    answer = client.post(of("screening_decide", first), {"decision": "accept", "note": "Thank you."})
    assert answer["Location"] == of("screening_assignment", second)
    assert state(first) is S.ACCEPTED
    assert first.transitions.latest("pk").note == "Thank you."
    client.post(of("screening_decide", second), {"decision": "accept"})
    assert "Nothing waits for you" in text(client.get(at("screening", here)))


def test_a_decision_that_cannot_be_changes_nothing(here: campaigns.World, reviewer: Any, client: Client) -> None:
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
    assert assignments.paid(done) == 0


def test_rejecting_with_a_part_of_the_pay(here: campaigns.World, reviewer: Any, client: Client) -> None:
    done = handed_in(here)
    given = {"decision": "reject", "reason": "The same answer all along.", "pay": "part", "amount": "1.50"}
    assert client.post(of("screening_decide", done), given).status_code == 302
    assert (state(done), assignments.paid(done)) == (S.REJECTED, 150)
    page = text(client.get(of("screening_assignment", done)))
    assert "Accept after all" in page
    assert "The same answer all along." in page


def test_what_a_platform_asks_for_is_asked_for(here: campaigns.World, reviewer: Any, client: Client) -> None:
    done = sent(here)
    assert "asks for 100 characters" in text(client.get(of("screening_assignment", done)))
    given = {"decision": "reject", "reason": "Short.", "pay": "none", "category": RejectionCategory.LOW_EFFORT}
    refused = client.post(of("screening_decide", done), given)
    assert refused.status_code == 409
    assert "at least 100 characters" in text(refused)
    assert "Short." in text(refused)  # what was typed is still there
    assert client.post(of("screening_decide", done), given | {"reason": REASON}).status_code == 302
    assert PlatformOrder.objects.get().details["category"] == RejectionCategory.LOW_EFFORT


def test_what_another_has_open_is_taken_over_by_a_clear_word(
    here: campaigns.World, reviewer: Any, client: Client
) -> None:
    done, colleague = handed_in(here), here.member(Role.EDITOR)
    assert queue.DESK.hold(done, colleague, timezone.now())
    page = text(client.get(of("screening_assignment", done)))
    assert f"{colleague} has this questionnaire open until" in page
    assert "Accept, pay" not in page
    assert client.post(of("screening_decide", done), {"decision": "accept"}).status_code == 409
    assert state(done) is S.SUBMITTED
    assert f"{colleague} has this questionnaire open now" in text(client.post(of("screening_hold", done)))
    given = {"decision": "reject", "reason": "My own words.", "pay": "none"}
    refused = client.post(of("screening_decide", done), given)
    assert refused.status_code == 409
    assert refused.context["typed"] == [("Why", "My own words.")]
    assert set(given.items()) <= set(refused.context["resent"])
    assert "kept-words" in text(refused)
    mine = client.post(of("screening_hold", done), {"over": "yes", **dict(refused.context["resent"])})
    assert mine.context["reject"]["reason"].value() == "My own words."
    assert mine.context["opened"] == "reject"
    assert "Accept, pay" in text(client.get(of("screening_assignment", done)))
    client.post(of("screening_skip", done))
    done.refresh_from_db()
    assert done.reviewer is None


def test_paying_and_including_are_two_decisions(here: campaigns.World, reviewer: Any, client: Client) -> None:
    done = handed_in(here)
    assert client.post(of("screening_include", done), {"inclusion": "exclude"}).status_code == 422
    client.post(of("screening_include", done), {"inclusion": "exclude", "why": "A friend of ours."})
    client.post(of("screening_decide", done), {"decision": "accept"})
    assert client.post(of("screening_pay", done), {"amount": "0", "reason": "x"}).status_code in {409, 422}
    client.post(of("screening_pay", done), {"amount": "0.50", "reason": "An item was broken."})
    done.refresh_from_db()
    assert (done.state, done.is_included, assignments.paid(done)) == (S.ACCEPTED, False, 450)


def test_a_contested_rejection_is_taken_back_from_the_desk(
    here: campaigns.World, reviewer: Any, client: Client
) -> None:
    done = handed_in(here)
    client.post(of("screening_decide", done), {"decision": "reject", "reason": "Too fast.", "pay": "none"})
    enquiring.ask(
        participant=done.participant, kind=EnquiryKind.CONTEST, text="I read quickly.", now=NOW, about=done.external_id
    )
    assert of("screening_assignment", done) in text(client.get(reverse("enquiries", args=[here.study.slug])))
    assert "I read quickly." in text(client.get(of("screening_assignment", done)))
    assert client.post(of("screening_reverse", done), {"note": ""}).status_code == 422
    said = client.post(of("screening_reverse", done), {"note": "You are right."}, follow=True)
    assert "the rest of the pay is owed" in text(said)
    assert (state(done), assignments.paid(done)) == (S.ACCEPTED, 400)


def test_surplus_is_taken_up_while_a_place_is_free(reviewer: Any, client: Client, here: campaigns.World) -> None:
    made = campaigns.world(study=here.study, k=1, topics=1)
    late = judging.claim(made, made.judge())
    judging.answer_all(late)
    assignments.expire(now=NOW + timedelta(days=1))
    quick = judging.claim(made, made.judge(), NOW + timedelta(days=1))
    assignments.submit(assignment=late, now=NOW + timedelta(days=1))
    assert state(late) is S.SURPLUS
    assert "no place of its questionnaire is free" in text(client.get(of("screening_assignment", late)))
    assert client.post(of("screening_take_up", late)).status_code == 409
    assignments.give_back(assignment=quick, now=NOW + timedelta(days=1))
    assert "Take it up" in text(client.get(of("screening_assignment", late)))
    client.post(of("screening_take_up", late))
    assert state(late) is S.SUBMITTED


def test_all_that_nothing_speaks_against_at_once(here: campaigns.World, reviewer: Any, client: Client) -> None:
    clean = [handed_in(here) for _ in range(2)]
    fast = handed_in(here, after=MINUTE)
    page = text(client.get(at("screening_accept_clean", here)))
    assert "2 questionnaires wait against which no signal speaks" in page
    assert client.post(at("screening_accept_clean", here), {"until": "soon"}).status_code == 302
    assert state(clean[0]) is S.SUBMITTED
    said = client.post(at("screening_accept_clean", here), {"until": timezone.now().isoformat()}, follow=True)
    assert "2 questionnaires accepted." in text(said)
    assert [state(each) for each in (*clean, fast)] == [S.ACCEPTED, S.ACCEPTED, S.SUBMITTED]


def test_hostile_words_are_words(here: campaigns.World, reviewer: Any, client: Client) -> None:
    bad = "<script>alert(1)</script>"
    one = judging.claim(here, here.judge())
    judging.answer_all(one, NOW + LONG)
    done = assignments.submit(assignment=one, comment=bad, now=NOW + LONG)
    page = client.get(of("screening_assignment", done)).content.decode()
    assert bad not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


@pytest.mark.parametrize(
    ("name", "role"),
    [("screening", Role.REVIEWER), ("screening_accept_clean", Role.REVIEWER), ("campaign_checks", Role.EDITOR)],
)
def test_who_may_see_it(here: campaigns.World, client: Client, name: str, role: Role) -> None:
    below = max(each for each in Role if each < role)
    client.force_login(here.member(below))
    assert client.get(at(name, here)).status_code == 403
    client.force_login(UserFactory())
    assert client.get(at(name, here)).status_code == 404


def test_nothing_of_another_study_is_found(here: campaigns.World, reviewer: Any, client: Client) -> None:
    other = campaigns.world()
    done = handed_in(other)
    assert (
        client.get(at("screening", here).replace(f"/{here.campaign.pk}/", f"/{other.campaign.pk}/")).status_code == 404
    )
    assert client.get(at("screening_assignment", here, done.external_id)).status_code == 404
    assert client.post(at("screening_decide", here, done.external_id), {"decision": "accept"}).status_code == 404
    assert state(done) is S.SUBMITTED


def test_where_no_places_are_there_is_nothing_to_screen(reviewer: Any, client: Client, here: campaigns.World) -> None:
    Place.objects.filter(campaign=here.campaign).delete()
    Campaign.objects.filter(pk=here.campaign.pk).update(has_places=False)  # as of models, and of imported ones
    for name in ("screening", "screening_accept_clean"):
        assert client.get(at(name, here)).status_code == 404


@pytest.fixture
def draft(client: Client) -> campaigns.World:
    made = campaigns.world(state=CampaignState.DRAFT)
    client.force_login(made.member(Role.EDITOR))
    return made


def test_checks_are_set_in_a_draft(draft: campaigns.World, client: Client) -> None:
    good = {"checks": "1", "gold": "1", "instructed": "Please choose {answer}.", "nonsense": ""}
    bad = client.post(at("campaign_checks", draft), good | {"instructed": "Do you remember? {answer}"})
    assert bad.status_code == 422
    assert "test memory" in text(bad)
    page = text(client.post(at("campaign_checks", draft), good, follow=True))
    assert "Please choose {answer}." in page
    assert "can never lead to a proposed rejection" in page  # one check, in a study of 25 minutes
    assert "there are none yet" in page  # gold items were asked for
    draft.change(state=CampaignState.OPEN, opened_at=NOW)
    late = client.post(at("campaign_checks", draft), good | {"checks": "5"})
    assert late.status_code == 422
    draft.campaign.refresh_from_db()
    assert draft.campaign.design["checks"] == 1


def test_an_item_is_added_labelled_and_used(draft: campaigns.World, client: Client) -> None:
    left, right, *_rest, stranger = draft.responses
    for wrong in (
        {},
        {"left": left.external_id, "right": "none"},
        {"left": left.external_id, "right": stranger.external_id},
    ):
        assert client.post(at("campaign_checks_add", draft), wrong).status_code == 302
    before = Item.objects.filter(campaign=draft.campaign).count()
    made = client.post(at("campaign_checks_add", draft), {"left": right.external_id, "right": left.external_id})
    assert Item.objects.filter(campaign=draft.campaign).count() == before + 1
    address = made["Location"]
    item = Item.objects.latest("pk")
    first = draft.dimensions[0]
    assert client.post(address, {f"label-{first.pk}": "9", "do": "gold"}).status_code == 422
    none = client.post(address, {"do": "training"})
    assert none.status_code == 422
    assert "nothing is taught" in text(none)
    client.post(address, {f"label-{first.pk}": "1", f"why-{first.pk}": "B answers it.", "do": "training"})
    assert TrainingItem.objects.get().item == item
    assert "New judges learn from this item" in text(client.get(address))
    client.post(address, {f"label-{first.pk}": "1", "do": "gold"})
    assert list(gold.items(draft.campaign)) == [item]
    assert address in text(client.get(at("campaign_checks", draft)))
    client.post(address, {"do": "remove"})
    assert not Item.objects.filter(pk=item.pk).exists()


def test_known_labels_where_one_response_is_shown(client: Client) -> None:
    made = campaigns.world(kind=CampaignKind.POINTWISE, state=CampaignState.DRAFT)
    client.force_login(made.member(Role.EDITOR))
    answer = client.post(at("campaign_checks_add", made), {"response": made.responses[0].external_id})
    client.post(answer["Location"], {f"label-{made.dimensions[0].pk}": "3", "do": "gold"})
    assert gold.labels(made.campaign) == {(gold.items(made.campaign).get().pk, made.dimensions[0].pk): 3}
    assert client.get(at("campaign_checks", made)).status_code == 200


def test_an_open_campaign_shows_its_known_labels(here: campaigns.World, client: Client) -> None:
    made = campaigns.world(state=CampaignState.DRAFT)
    item = gold.add_pair(campaign=made.campaign, left=made.responses[1], right=made.responses[0])
    gold.set_labels(item=item, known={made.dimensions[0].pk: Label(1, "B answers it.")})
    made.change(state=CampaignState.OPEN, opened_at=NOW)
    client.force_login(made.member(Role.EDITOR))
    page = text(client.get(at("campaign_checks_item", made, item.pk)))
    assert "B answers it." in page
    assert client.post(at("campaign_checks_item", made, item.pk), {"do": "remove"}).status_code == 422
    assert item.gold_labels.exists()
