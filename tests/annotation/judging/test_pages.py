"""A judge's pages: what they show, to whom, and what they never show."""

import gzip
import re
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import pgtrigger
import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.enums import AssignmentState as S
from annotation.enums import CampaignKind, CampaignState
from annotation.judging import answers, claims, decisions, leases, questionnaire_content, submission
from annotation.models import Assignment, TrainingItem
from crowdrag.studies import activities
from crowdrag.studies.entry import links
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import add_check, answer_all
from tests.annotation.open_campaign import World, world
from tests.annotation.shared import client_of, made_once
from writing.models import Response

pytestmark = pytest.mark.django_db
stored, here = made_once(world)


def start_of(here: World) -> str:
    return reverse("judging_start", args=[here.study.slug, here.campaign.pk])


def address(here: World, assignment: Assignment, name: str = "questionnaire") -> str:
    return reverse(f"judging_{name}", args=[here.study.slug, here.campaign.pk, assignment.external_id])


def work_of(here: World) -> str:
    return reverse("participant_dashboard", args=[here.study.slug])


def claimed(here: World) -> tuple[Client, Assignment]:
    judge = here.judge()
    return client_of(judge), claims.claim(campaign=here.campaign, participant=judge, now=timezone.now())


def source_of(client: Client, url: str) -> str:
    return client.get(url).content.decode()


def rewrite(responses: Iterable[Response], texts: Iterable[str]) -> None:
    """Give responses other texts, by no rule."""
    with pgtrigger.ignore("writing.Response:text_never_changes"):
        for response, given in zip(responses, texts, strict=True):
            Response.objects.filter(pk=response.pk).update(text=given)


def test_who_came_by_the_link_begins_and_goes_on_with_the_same_questionnaire() -> None:
    here = world(minutes=30, minimum_seconds=600)
    add_check(here.questionnaires[0])
    client = client_of(here.judge())
    page = client.get(start_of(here))
    numbers = set(re.findall(r"[\d.]+", re.sub(r"<[^>]+>", " ", page.content.decode())))
    # The pay, the minutes that it takes, the pairs with their questions, and what counts as too quick.
    assert {"4.00", "30", "3", "2", "10"} <= numbers
    assert page.context["has_checks"]
    response = client.post(start_of(here))
    mine = address(here, Assignment.objects.get())
    assert response["Location"] == client.post(start_of(here))["Location"] == mine
    assert mine in source_of(client, start_of(here))


def test_a_questionnaire_is_its_judges_alone(here: World) -> None:
    stranger = client_of(here.stranger())
    assert stranger.get(start_of(here))["Location"] == work_of(here)
    assert stranger.post(start_of(here)).status_code == 302
    assert not Assignment.objects.exists()
    assert start_of(here) not in source_of(stranger, work_of(here))
    _client, theirs = claimed(here)
    other = client_of(here.judge())
    for name in ("questionnaire", "done", "return"):
        assert other.get(address(here, theirs, name)).status_code == 404


def test_consent_comes_first(here: World) -> None:
    client = client_of(here.judge(consents=False))
    target = f"{reverse('participant_consent', args=[here.study.slug])}?way=judging-{here.campaign.pk}"
    assert client.get(start_of(here))["Location"] == target
    agreed = client.post(target, {"agrees": "on", "releases_text": "on"})
    assert start_of(here) in agreed.content.decode()
    assert client.get(start_of(here)).status_code == 200
    assert start_of(here) in source_of(client, target)


@pytest.mark.parametrize("kind", CampaignKind.values)
def test_a_questionnaire_shows_its_items_and_never_who_wrote(kind: str) -> None:
    here = world(kind=kind)
    client, mine = claimed(here)
    for response in here.responses:
        response.participant.external_id = f"WRITER-{response.pk}-SECRET"
        response.participant.save()
    page = client.get(address(here, mine))
    source = page.content.decode()
    items = mine.questionnaire.entries.count()
    assert source.count('class="judging-item"') == items
    assert source.count('type="radio" name="q-') == items * 2 * (4 if kind == CampaignKind.POINTWISE else 3)
    assert here.responses[0].text.split(" [")[0] in source
    assert '<span class="judging-cite">[0]</span>' in source
    secrets = [each for response in here.responses for each in (response.external_id, response.participant.external_id)]
    secrets += ["SECRET", *{response.style.name for response in here.responses}, "HUMAN", "MODEL", "SYSTEM", "origin"]
    secrets += [here.campaign.name, *(each.external_id for each in here.questionnaires)]
    assert [each for each in secrets if each in source] == []
    # No cache keeps any of it.
    for url in (start_of(here), address(here, mine), address(here, mine, "return")):
        assert "no-store" in client.get(url)["Cache-Control"]


def test_known_items_look_like_any_other(here: World) -> None:
    client, mine = claimed(here)
    before = source_of(client, address(here, mine))
    mine.questionnaire.entries.update(has_known_label=True)
    token = re.compile(r'"X-CSRFToken": "\w+"|name="csrfmiddlewaretoken" value="\w+"|data-now="[^"]+"')
    assert token.sub("", source_of(client, address(here, mine))) == token.sub("", before)


def test_hostile_texts_stay_texts(here: World) -> None:
    evil = (
        "<script>alert(1)</script> <img src=x onerror=alert(1)> **<b>x</b>** [0] {{ 7|add:7 }} [x](javascript:alert(1))"
    )
    rewrite(here.responses, [evil] * len(here.responses))
    client, mine = claimed(here)
    source = source_of(client, address(here, mine))
    assert [each for each in ("<script>alert", "<img", "<b>", 'href="javascript') if each in source] == []
    assert "{{ 7|add:7 }}" in source


def test_answers_are_there_when_one_comes_back(here: World) -> None:
    client, mine = claimed(here)
    item, dimension = next(here.questions(mine))
    given = {"item": item.pk, "dimension": dimension.pk, "value": 0, "justification": "so", "revision": 1}
    answer = answers.answer(assignment=mine, now=timezone.now(), **given)
    page = questionnaire_content.load_page(mine)
    assert page.entries[0].questions[0].answer == questionnaire_content.Answer(0, "so", answer.revision)
    assert (page.questions, page.open, page.entries[0].progress, page.first_open) == (6, 5, "partly", 1)
    source = source_of(client, address(here, mine))
    assert re.findall(r'name="q-([\d-]+)" value="(-?\d)" checked', source) == [("1-1", "0")]


def test_handing_in_leads_to_the_end_only_when_all_is_stored(here: World) -> None:
    client, mine = claimed(here)
    refused = client.post(address(here, mine, "submit"), {"comment": "good"})
    source = refused.content.decode()
    assert (refused.status_code, 'id="refused"' in source, ">good<" in source) == (422, True, True)
    assert refused.context["page"].open == 6
    assert client.get(address(here, mine, "done"))["Location"] == address(here, mine)
    answer_all(mine, timezone.now())
    done = client.post(address(here, mine, "submit"), {"comment": "good"})["Location"]
    assert done == address(here, mine, "done")
    assert client.get(done).status_code == 200
    mine.refresh_from_db()
    assert (mine.state, mine.comment) == (S.SUBMITTED, "good")
    assert client.get(address(here, mine))["Location"] == done


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
    client, own = client_of(judge), work_of(here)
    assert "completion-code" not in source_of(client, own)
    client.post(start_of(here))
    mine = Assignment.objects.get(participant=judge)
    assert mine.session == "visit-1"
    assert codes["COMPLETED"] not in client.post(address(here, mine, "submit")).content.decode()
    answer_all(mine, timezone.now())
    client.post(address(here, mine, "submit"))
    for page in (address(here, mine, "done"), start_of(here), own):
        source = source_of(client, page)
        assert f'href="https://app.example.org/complete?cc={codes["COMPLETED"]}"' in source, page
        assert f'<code class="mono completion-code">{codes["COMPLETED"]}</code>' in source, page
        assert f'action="{start_of(here)}"' not in source, page
        assert f'class="button button--main" href="{start_of(here)}"' not in source, page
    assert client.post(start_of(here)).status_code == 302
    assert Assignment.objects.filter(participant=judge).count() == 1
    # It stays so when the campaign closes, and another visit is another questionnaire.
    here.change(state="CLOSED", closed_at=timezone.now())
    assert codes["COMPLETED"] in source_of(client, start_of(here))
    here.change(state="OPEN", closed_at=None)
    arrival.session = "visit-2"
    arrival.save()
    source = source_of(client, start_of(here))
    assert ("button--main" in source, "completion-code" in source) == (True, False)


def test_several_questionnaires_one_after_the_other() -> None:
    here = world(questionnaires_per_person=2)
    client, one = claimed(here)
    for offers_another in (True, False):
        answer_all(one, timezone.now())
        client.post(address(here, one, "submit"))
        assert (f'action="{start_of(here)}"' in source_of(client, address(here, one, "done"))) == offers_another
        client.post(start_of(here))
        one = Assignment.objects.latest("pk")
    own = source_of(client, work_of(here))
    assert [address(here, each) in own for each in Assignment.objects.all()] == [True, True]


def test_who_gives_it_back_may_change_their_mind(here: World) -> None:
    client, mine = claimed(here)
    assert client.get(address(here, mine, "return")).status_code == 200
    assert client.post(address(here, mine, "return"), {"reason": "unclear"})["Location"] == start_of(here)
    mine.refresh_from_db()
    assert mine.state == S.RETURNED
    # What somebody says themselves is not told to them as a decision.
    assert "unclear" not in source_of(client, work_of(here))
    assert 'data-state="RETURNED"' in source_of(client, address(here, mine))
    assert client.post(address(here, mine))["Location"] == address(here, mine)
    mine.refresh_from_db()
    assert mine.state == S.ASSIGNED


def test_who_is_late_can_hand_in_and_gets_no_place_that_another_has() -> None:
    here = world(k=1)
    client, mine = claimed(here)
    answer_all(mine, timezone.now())
    late = 'id="late" role="status">'
    assert late not in source_of(client, address(here, mine))
    Assignment.objects.filter(pk=mine.pk).update(lease_until=timezone.now() - timedelta(hours=1))
    leases.expire(now=timezone.now())
    assert late in source_of(client, address(here, mine))
    assert address(here, mine) in source_of(client, start_of(here))
    while here.free():
        claims.claim(campaign=here.campaign, participant=here.judge(), now=timezone.now())
    assert client.post(address(here, mine), follow=True).status_code == 200
    mine.refresh_from_db()
    assert mine.state == S.TIMED_OUT
    client.post(address(here, mine, "submit"))
    assert 'data-state="SURPLUS"' in source_of(client, address(here, mine, "done"))


def test_a_rejection_is_told_with_its_reason_and_can_be_contested(here: World) -> None:
    client, mine = claimed(here)
    answer_all(mine, timezone.now())
    submission.submit(assignment=mine, now=timezone.now())
    decisions.reject(assignment=mine, reason="Every answer was A.", by=here.member(), now=timezone.now(), pay_part=100)
    own = source_of(client, work_of(here))
    assert "Every answer was A." in own
    assert f"about={mine.external_id}&amp;kind=CONTEST" in own
    assert "Every answer was A." in source_of(client, address(here, mine, "done"))
    way = next(each for each in activities.of_study(here.study) if each.name == here.purpose)
    assert way.owed(mine.participant) == 100
    assert way.about_label(mine.participant, mine.external_id)
    assert way.about_label(here.judge(), mine.external_id) == way.remedy(here.judge(), mine.external_id) == ""


def test_a_closed_campaign_keeps_what_was_begun_and_a_draft_is_no_way_of_taking_part(here: World) -> None:
    client, mine = claimed(here)
    here.change(state=CampaignState.CLOSED, closed_at=timezone.now())
    assert client.get(address(here, mine)).status_code == 200
    late = client_of(here.judge())
    assert late.get(start_of(here)).context["overview"].obstacle
    late.post(start_of(here))
    assert Assignment.objects.count() == 1
    draft = world(state=CampaignState.DRAFT)
    assert draft.purpose not in [way.name for way in activities.of_study(draft.study)]
    assert client_of(draft.judge()).get(start_of(draft)).status_code == 302


def test_who_withdrew_is_led_to_their_own_page(here: World) -> None:
    client, mine = claimed(here)
    withdrawal.withdraw(participant=mine.participant, now=timezone.now())
    assert client.get(start_of(here))["Location"] == work_of(here)
    assert client.get(address(here, mine))["Location"] == work_of(here)
    answer = client.post(address(here, mine, "answer"), "{}", content_type="application/json")
    assert (answer.status_code, answer.json()["problem"]) == (403, "withdrawn")


def test_examples_come_before_the_first_questionnaire(here: World) -> None:
    TrainingItem.objects.create(campaign=here.campaign, item=here.campaign.items.last(), position=0)
    client, training = client_of(here.judge()), reverse("judging_training", args=[here.study.slug, here.campaign.pk])
    assert training in source_of(client, start_of(here))
    assert client.post(start_of(here))["Location"] == training
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("kind", [CampaignKind.PAIRWISE, CampaignKind.POINTWISE])
def test_the_offer_says_how_much_it_is(kind: str) -> None:
    here = world(kind=kind, questionnaires_per_person=None, per_questionnaire=3, dimensions=5)

    def numbers() -> list[str]:
        offer = Client().get(reverse("join", args=[here.link.token])).context["offer"]
        assert offer.repeats
        return re.findall(r"\d+", str(offer.what))

    assert numbers() == ["3", "5"]
    here.questionnaires[0].entries.last().delete()
    assert numbers() == ["3", "5"], "the largest questionnaire counts"
    TrainingItem.objects.create(campaign=here.campaign, item=here.campaign.items.last(), position=0)
    assert numbers() == ["3", "5", "1"]


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
