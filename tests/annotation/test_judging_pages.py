"""A judge's pages: what they say, to whom, and what they never say."""

import gzip
import re
from collections.abc import Iterable
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pgtrigger
import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain import assignments, reading
from annotation.enums import AssignmentState, CampaignKind, CampaignState
from annotation.models import Assignment, TrainingItem
from crowdrag.studies import ways
from crowdrag.studies.domain import leaving, links
from crowdrag.studies.models import Participant
from tests.annotation.campaigns import World, world
from tests.annotation.judging import add_check, answer_all
from tests.participants import as_participant
from writing.models import Response

pytestmark = pytest.mark.django_db
S = AssignmentState


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    return world()


@pytest.fixture
def here(built: World, db: None) -> World:
    return deepcopy(built)


def client_of(person: Participant) -> Client:
    client = Client()
    as_participant(client, person)
    return client


def start_of(here: World) -> str:
    return reverse("judging_start", args=[here.study.slug, here.campaign.pk])


def address(here: World, assignment: Assignment, name: str = "questionnaire") -> str:
    return reverse(f"judging_{name}", args=[here.study.slug, here.campaign.pk, assignment.external_id])


def claimed(here: World, **fields: Any) -> tuple[Client, Assignment]:
    judge = here.judge(**fields)
    return client_of(judge), assignments.claim(campaign=here.campaign, participant=judge, now=timezone.now())


def rewrite(responses: Iterable[Response], texts: Iterable[str]) -> None:
    """Give responses other texts, by no rule."""
    with pgtrigger.ignore("writing.Response:text_never_changes"):
        for response, given in zip(responses, texts, strict=True):
            Response.objects.filter(pk=response.pk).update(text=given)


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_who_came_by_the_link_reads_what_it_is_and_begins() -> None:
    here = world(minutes=30, least_seconds=600)
    add_check(here.questionnaires[0])
    client = client_of(here.judge())
    page = client.get(start_of(here))
    said = text(page)
    assert "€4.00" in said or "4.00" in said
    assert "30 minutes" in said
    assert "3 pairs of responses, with 2 questions each" in said
    assert "less than 10 minutes" in said
    assert "which answer to give" in said
    response = client.post(start_of(here))
    mine = Assignment.objects.get()
    assert response["Location"] == address(here, mine)
    assert client.post(start_of(here))["Location"] == address(here, mine)
    assert "You have begun" in text(client.get(start_of(here)))


def test_nobody_else_sees_it(here: World) -> None:
    stranger = client_of(here.stranger())
    assert stranger.get(start_of(here))["Location"] == reverse("work", args=[here.study.slug])
    assert stranger.post(start_of(here)).status_code == 302
    assert not Assignment.objects.exists()
    assert "Compare answers" not in text(stranger.get(reverse("work", args=[here.study.slug])))
    _client, theirs = claimed(here)
    other = client_of(here.judge())
    for name in ("questionnaire", "done", "return"):
        assert other.get(address(here, theirs, name)).status_code == 404


def test_consent_comes_first(here: World) -> None:
    client = client_of(here.judge(consents=False))
    target = f"{reverse('work_consent', args=[here.study.slug])}?way=judging-{here.campaign.pk}"
    assert client.get(start_of(here))["Location"] == target
    agreed = client.post(target, {"agrees": "on", "releases_text": "on"})
    assert start_of(here) in agreed.content.decode()
    assert client.get(start_of(here)).status_code == 200
    assert start_of(here) in client.get(target).content.decode()


@pytest.mark.parametrize("kind", CampaignKind.values)
def test_a_questionnaire_shows_its_items_and_never_who_wrote(kind: str) -> None:
    here = world(kind=kind)
    client, mine = claimed(here)
    for response in here.responses:
        response.participant.external_id = f"WRITER-{response.pk}-SECRET"
        response.participant.save()
    page = client.get(address(here, mine))
    source = page.content.decode()
    assert page.status_code == 200
    items = mine.questionnaire.entries.count()
    assert source.count('class="judged"') == items
    assert source.count('type="radio" name="q-') == items * 2 * (4 if kind == CampaignKind.POINTWISE else 3)
    assert "A claim, number" in source
    assert '<span class="judged-cite">[0]</span>' in source
    told = [each for response in here.responses for each in (response.external_id, response.participant.external_id)]
    told += ["SECRET", *{response.style.name for response in here.responses}, "HUMAN", "MODEL", "SYSTEM", "origin"]
    told += [here.campaign.name, *(each.external_id for each in here.questionnaires)]
    assert [each for each in told if each in source] == []


def test_known_items_look_like_any_other(here: World) -> None:
    client, mine = claimed(here)
    before = client.get(address(here, mine)).content
    mine.questionnaire.entries.update(is_gold=True)
    after = client.get(address(here, mine)).content
    token = re.compile(rb'"X-CSRFToken": "\w+"|name="csrfmiddlewaretoken" value="\w+"|data-now="[^"]+"')
    assert token.sub(b"", before) == token.sub(b"", after)


def test_hostile_texts_stay_texts(here: World) -> None:
    evil = (
        "<script>alert(1)</script> <img src=x onerror=alert(1)> **<b>x</b>** [0] {{ 7|add:7 }} [x](javascript:alert(1))"
    )
    rewrite(here.responses, [evil] * len(here.responses))
    client, mine = claimed(here)
    source = client.get(address(here, mine)).content.decode()
    assert "<script>alert" not in source
    assert "<img" not in source
    assert "<b>" not in source
    assert "{{ 7|add:7 }}" in source
    assert 'href="javascript' not in source


def test_answers_are_there_when_one_comes_back(here: World) -> None:
    client, mine = claimed(here)
    item, dimension = next(here.questions(mine))
    stored = assignments.answer(
        assignment=mine,
        item=item.pk,
        dimension=dimension.pk,
        value=0,
        justification="so",
        revision=1,
        now=timezone.now(),
    )
    page = reading.page(mine)
    first = page.entries[0].questions[0]
    assert first.answer == reading.Answer(0, "so", stored.revision)
    assert (page.questions, page.open, page.entries[0].progress, page.first_open) == (6, 5, "partly", 1)
    source = client.get(address(here, mine)).content.decode()
    assert re.findall(r'name="q-([\d-]+)" value="(-?\d)" checked', source) == [("1-1", "0")]


def test_handing_in_leads_to_the_end_and_the_platform_only_when_all_is_stored(here: World) -> None:
    judge = here.judge(consents=True)
    link = links.create_platform(
        study=here.study,
        purpose=here.purpose,
        label="",
        platform="prolific",
        parameters={"participant": "PROLIFIC_PID"},
        completion={"COMPLETED": "https://app.example.org/submissions/complete?cc=DONE"},
        by=None,
        now=timezone.now(),
    )
    link.arrivals.create(participant=judge, session="visit-1", arrived_at=timezone.now(), last_at=timezone.now())
    client = client_of(judge)
    client.post(start_of(here))
    mine = Assignment.objects.get(participant=judge)
    assert mine.session == "visit-1"
    refused = client.post(address(here, mine, "submit"), {"comment": "good"})
    assert refused.status_code == 422
    assert "6 questions are still open" in text(refused)
    assert "good" in refused.content.decode()
    assert client.get(address(here, mine, "done"))["Location"] == address(here, mine)
    assert "cc=DONE" not in refused.content.decode()
    answer_all(mine, timezone.now())
    response = client.post(address(here, mine, "submit"), {"comment": "good"})
    assert response["Location"] == address(here, mine, "done")
    done = client.get(response["Location"])
    assert "https://app.example.org/submissions/complete?cc=DONE" in done.content.decode()
    assert "All your answers have arrived" in text(done)
    mine.refresh_from_db()
    assert (mine.state, mine.comment) == (S.SUBMITTED, "good")
    assert client.get(address(here, mine))["Location"] == address(here, mine, "done")
    # The campaign gives one questionnaire a person: the start leads to the same end.
    again = client.get(start_of(here))
    assert "cc=DONE" in again.content.decode()


def test_a_visit_from_a_platform_ends_with_its_one_questionnaire() -> None:
    """The campaign gives many questionnaires, and a visit stands for one: no page offers another, all lead back."""
    here = world(questionnaires_per_person=None)
    judge = here.judge()
    codes = {"COMPLETED": "DONE1234", "NO_WORK": "NONE1234"}
    link = links.create_platform(
        study=here.study, purpose=here.purpose, label="", platform="prolific",
        parameters={"participant": "PROLIFIC_PID", "session": "SESSION_ID"},
        completion={name: f"https://app.example.org/complete?cc={code}" for name, code in codes.items()},
        by=None, now=timezone.now(),
    )  # fmt: skip
    arrival = link.arrivals.create(
        participant=judge, session="visit-1", arrived_at=timezone.now(), last_at=timezone.now()
    )
    client = client_of(judge)
    own = reverse("work", args=[here.study.slug])
    assert "completion-code" not in client.get(own).content.decode()
    client.post(start_of(here))
    mine = Assignment.objects.get(participant=judge)
    answer_all(mine, timezone.now())
    client.post(address(here, mine, "submit"))
    begins = f'action="{start_of(here)}"'
    for page in (address(here, mine, "done"), start_of(here), own):
        source = client.get(page).content.decode()
        assert f'href="https://app.example.org/complete?cc={codes["COMPLETED"]}"' in source, page
        assert f'<code class="mono completion-code">{codes["COMPLETED"]}</code>' in source, page
        assert begins not in source, page
        assert f'class="button button--main" href="{start_of(here)}"' not in source, page
    assert client.post(start_of(here)).status_code == 302
    assert Assignment.objects.filter(participant=judge).count() == 1
    # It stays so when the campaign closes, and another visit is another questionnaire.
    here.change(state="CLOSED", closed_at=timezone.now())
    assert codes["COMPLETED"] in client.get(start_of(here)).content.decode()
    here.change(state="OPEN", closed_at=None)
    arrival.session = "visit-2"
    arrival.save()
    source = client.get(start_of(here)).content.decode()
    assert "button--main" in source
    assert "completion-code" not in source


def test_several_questionnaires_one_after_the_other() -> None:
    here = world(questionnaires_per_person=2)
    client, mine = claimed(here)
    answer_all(mine, timezone.now())
    client.post(address(here, mine, "submit"))
    assert "Do another questionnaire" in text(client.get(address(here, mine, "done")))
    client.post(start_of(here))
    second = Assignment.objects.exclude(pk=mine.pk).get()
    answer_all(second, timezone.now())
    client.post(address(here, second, "submit"))
    assert "Do another questionnaire" not in text(client.get(address(here, second, "done")))
    own = text(client.get(reverse("work", args=[here.study.slug])))
    assert "Questionnaire 1," in own
    assert "Questionnaire 2," in own
    assert "You have judged all 2 questionnaires" in own


def test_who_gives_it_back_may_change_their_mind(here: World) -> None:
    client, mine = claimed(here)
    assert client.get(address(here, mine, "return")).status_code == 200
    assert client.post(address(here, mine, "return"), {"reason": "unclear"})["Location"] == start_of(here)
    mine.refresh_from_db()
    assert mine.state == S.RETURNED
    # What somebody says themselves is not told to them as a decision.
    assert "unclear" not in text(client.get(reverse("work", args=[here.study.slug])))
    assert "Go on with it after all" in text(client.get(address(here, mine)))
    assert client.post(address(here, mine))["Location"] == address(here, mine)
    mine.refresh_from_db()
    assert mine.state == S.ASSIGNED


def test_who_is_late_reads_what_comes_of_it_and_can_hand_in() -> None:
    here = world(k=1)
    client, mine = claimed(here)
    answer_all(mine, timezone.now())
    Assignment.objects.filter(pk=mine.pk).update(lease_until=timezone.now() - timedelta(hours=1))
    assignments.expire(now=timezone.now())
    page = client.get(address(here, mine))
    assert "Your time for this questionnaire was over" in text(page)
    assert "You began a questionnaire that was not submitted" in text(client.get(start_of(here)))
    while here.free():
        assignments.claim(campaign=here.campaign, participant=here.judge(), now=timezone.now())
    asked = client.post(address(here, mine), follow=True)
    assert "somebody else is judging it now" in text(asked)
    assert asked.status_code == 200
    client.post(address(here, mine, "submit"))
    mine.refresh_from_db()
    assert mine.state == S.SURPLUS
    assert "your place had gone to somebody else" in text(client.get(address(here, mine, "done")))


def test_a_rejection_is_told_with_its_reason_and_can_be_contested(here: World) -> None:
    client, mine = claimed(here)
    answer_all(mine, timezone.now())
    assignments.submit(assignment=mine, now=timezone.now())
    assignments.reject(
        assignment=mine, reason="Every answer was A.", by=here.member(), now=timezone.now(), pay_part=100
    )
    own = client.get(reverse("work", args=[here.study.slug]))
    assert "Every answer was A." in text(own)
    assert f"about={mine.external_id}&amp;kind=CONTEST" in own.content.decode()
    assert "Every answer was A." in text(client.get(address(here, mine, "done")))
    mine.refresh_from_db()
    way = next(each for each in ways.every(here.study) if each.name == here.purpose)
    assert way.owed(mine.participant) == 100
    assert way.about_label(mine.participant, mine.external_id)
    assert way.about_label(here.judge(), mine.external_id) == ""
    assert way.remedy(here.judge(), mine.external_id) == ""


def test_closed_campaigns_say_so_and_keep_what_was_begun(here: World) -> None:
    client, mine = claimed(here)
    here.change(state=CampaignState.CLOSED, closed_at=timezone.now())
    assert client.get(address(here, mine)).status_code == 200
    late = client_of(here.judge())
    assert "Nothing can be judged here at present" in text(late.get(start_of(here)))
    late.post(start_of(here))
    assert Assignment.objects.count() == 1


def test_who_withdrew_is_led_to_their_own_page(here: World) -> None:
    client, mine = claimed(here)
    leaving.withdraw(participant=mine.participant, now=timezone.now())
    mine.refresh_from_db()
    assert mine.state == S.WITHDRAWN
    work = reverse("work", args=[here.study.slug])
    assert client.get(start_of(here))["Location"] == work
    assert client.get(address(here, mine))["Location"] == work
    answer = client.post(address(here, mine, "answer"), "{}", content_type="application/json")
    assert (answer.status_code, answer.json()["problem"]) == (403, "withdrawn")


def test_a_draft_is_no_way_of_taking_part() -> None:
    here = world(state=CampaignState.DRAFT)
    assert here.purpose not in [way.name for way in ways.every(here.study)]
    assert client_of(here.judge()).get(start_of(here)).status_code == 302


def test_examples_come_before_the_first_questionnaire(here: World) -> None:
    TrainingItem.objects.create(campaign=here.campaign, item=here.campaign.items.last(), position=0)
    client = client_of(here.judge())
    assert "To the examples" in text(client.get(start_of(here)))
    response = client.post(start_of(here))
    assert "training" in response["Location"]
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("kind", [CampaignKind.PAIRWISE, CampaignKind.POINTWISE])
def test_the_offer_says_how_much_it_is(kind: str) -> None:
    here = world(kind=kind, questionnaires_per_person=None)
    link = reverse("join", args=[here.link.token])
    before = text(Client().get(link))
    things = "3 answers" if kind == CampaignKind.POINTWISE else "3 pairs of answers"
    assert f"A questionnaire has {things}, and 2 questions about each." in before
    assert "training" not in before
    assert "You can do several" in before
    TrainingItem.objects.create(campaign=here.campaign, item=here.campaign.items.last(), position=0)
    assert "Before the first one comes a training: 1 example" in text(Client().get(link))


def test_nothing_of_the_page_is_kept_by_caches(here: World) -> None:
    client, mine = claimed(here)
    for url in (start_of(here), address(here, mine), address(here, mine, "return")):
        assert "no-store" in client.get(url)["Cache-Control"]


def test_a_questionnaire_of_the_papers_size_is_a_small_page() -> None:
    here = world(topics=1, responses=6, per_questionnaire=15, dimensions=7)
    words = " ".join(f"word{n % 97}" for n in range(270))
    rewrite(here.responses, [f"{n} {words} [0]." for n in range(6)])
    client, mine = claimed(here)
    page = client.get(address(here, mine), headers={"accept-encoding": "gzip"})
    assert page["Content-Encoding"] == "gzip"
    source = gzip.decompress(page.content).decode()
    fetched = {finders.find(name) for name in re.findall(r'(?:href|src)="/static/([^"#?]+)', source)}
    sizes = [len(gzip.compress(Path(str(path)).read_bytes())) for path in fetched]
    assert len(sizes) > 25
    assert len(page.content) + sum(sizes) < 100_000
