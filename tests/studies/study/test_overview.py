"""The sidebar, the inbox and the checklist on a study's overview."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.enums import AssignmentState, CampaignState
from crowdrag.studies import checklist, navigation
from crowdrag.studies.checklist import Action, Progress, Step, StepPart
from crowdrag.studies.enums import Role
from crowdrag.studies.messages.models import ParticipantMessage
from crowdrag.studies.models import Study, User
from tests.factories import (
    NOW,
    AssignmentFactory,
    MembershipFactory,
    ParticipantFactory,
    ResponseFactory,
    StudyFactory,
    TopicFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client: Client) -> tuple[Client, Study]:
    membership = MembershipFactory(role=Role.OWNER)
    client.force_login(membership.user)
    return client, membership.study


def current(page: str) -> list[str]:
    return re.findall(r'<a href="([^"]*)" aria-current="(?:page|true)"', page)


def names(role: Role) -> set[str]:
    return {item.url_name for item in navigation.items(role)}


def test_members_see_the_pages_that_they_may_open() -> None:
    assert names(Role.VIEWER) < names(Role.REVIEWER) < names(Role.EDITOR) < names(Role.OWNER)
    assert "inbox" in names(Role.REVIEWER) - names(Role.VIEWER)
    assert {"import", "entry_links"} <= names(Role.EDITOR) - names(Role.REVIEWER)
    assert {"webhooks", "study_about"} == names(Role.OWNER) - names(Role.EDITOR)
    groups = [item.group for item in navigation.items(Role.OWNER)]
    assert list(dict.fromkeys(groups)) == list(navigation.Group)


def test_every_page_of_the_sidebar_is_its_own_current_item(owner: tuple[Client, Study]) -> None:
    client, study = owner
    for item in navigation.items(Role.OWNER):
        address = reverse(item.url_name, args=[study.slug])
        page = client.get(address)
        assert page.status_code == 200, address
        assert current(page.content.decode()) == [address]
        [heading] = re.findall(r"<h1>\s*(.*?)\s*</h1>", page.content.decode(), re.DOTALL)
        assert heading == (study.title if item.url_name == "study" else str(item.label))


def test_pages_below_an_item_belong_to_it(owner: tuple[Client, Study]) -> None:
    client, study = owner
    for below, item in (
        ("review_queue", "inbox"), ("participant_messages", "inbox"), ("campaign_new", "campaigns"),
        ("writing_plan", "writing_progress"), ("model_judges_new", "model_judges"), ("release_new", "releases"),
    ):  # fmt: skip
        page = client.get(reverse(below, args=[study.slug])).content.decode()
        assert current(page) == [reverse(item, args=[study.slug])], below


def test_the_inbox_counts_what_waits_in_this_study_alone(owner: tuple[Client, Study]) -> None:
    client, study = owner
    member = User.objects.get()
    assert navigation.inbox(study, member) == []
    submitted = AssignmentFactory(
        questionnaire__campaign__study=study, state=AssignmentState.SUBMITTED, submitted_at=NOW
    )
    AssignmentFactory(state=AssignmentState.SUBMITTED, submitted_at=NOW)
    participant = ParticipantFactory(study=study)
    for answer in ({}, {"answer": "yes", "answered_at": NOW}):
        ParticipantMessage.objects.create(participant=participant, kind="QUESTION", text="Why?", asked_at=NOW, **answer)
    campaign = submitted.questionnaire.campaign
    assert [(entry.count, entry.url) for entry in navigation.inbox(study, member)] == [
        (1, reverse("participant_messages", args=[study.slug])),
        (1, reverse("screening", args=[study.slug, campaign.pk])),
    ]
    page = client.get(reverse("inbox", args=[study.slug])).content.decode()
    assert campaign.name in page
    assert re.search(r'class="count">2<', page)


def test_the_inbox_is_for_reviewers(client: Client) -> None:
    membership = MembershipFactory(role=Role.VIEWER)
    client.force_login(membership.user)
    assert client.get(reverse("inbox", args=[membership.study.slug])).status_code == 403


def steps(study: Study, role: Role = Role.OWNER) -> tuple[dict[str, str], str | None]:
    found = checklist.checklist(study, role, navigation.inbox(study))
    next_url = found.next.action.url if found.next and found.next.action else None
    return {row.step.value: row.progress.value for row in found.rows}, next_url


def test_the_checklist_leads_through_a_study(owner: tuple[Client, Study]) -> None:
    client, study = owner
    to_do = dict.fromkeys(("data", "collect", "review", "analyse", "publish"), "to_do")
    assert steps(study) == (to_do, reverse("import", args=[study.slug]))
    assert reverse("import", args=[study.slug]) in client.get(reverse("study", args=[study.slug])).content.decode()
    topic = TopicFactory(study=study)
    assert steps(study) == (to_do | {"data": "done"}, reverse("writing_plan", args=[study.slug]))
    ResponseFactory(study=study, topic=topic)
    assert steps(study) == (to_do | {"data": "done"}, reverse("campaign_new", args=[study.slug]))
    # A viewer is shown the same steps and asked for nothing.
    assert steps(study, Role.VIEWER) == (to_do | {"data": "done"}, None)
    AssignmentFactory(
        questionnaire__campaign__study=study, questionnaire__campaign__has_slots=False,
        questionnaire__campaign__state=CampaignState.CLOSED, state=AssignmentState.SUBMITTED, submitted_at=NOW,
    )  # fmt: skip
    states, next_url = steps(study)
    assert (states["collect"], states["review"]) == ("started", "started")
    campaign = study.campaigns.get()
    assert next_url == reverse("screening", args=[study.slug, campaign.pk])  # all that waits is in one list


def test_a_step_is_done_when_all_its_parts_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def progress(*parts: Progress) -> Progress:
        sources = [(Step.DATA, lambda _study, each=each: StepPart("", each)) for each in parts]
        monkeypatch.setattr(checklist, "_sources", sources)
        return checklist.checklist(StudyFactory(), Role.OWNER, []).rows[0].progress

    assert progress() is Progress.TO_DO
    assert progress(Progress.DONE, Progress.DONE) is Progress.DONE
    assert progress(Progress.TO_DO, Progress.TO_DO) is Progress.TO_DO
    assert progress(Progress.DONE, Progress.TO_DO) is Progress.STARTED


def test_the_next_step_is_one_that_the_member_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    part = StepPart("", Progress.TO_DO, Action("Import", "/import/", Role.EDITOR))
    monkeypatch.setattr(checklist, "_sources", [(Step.DATA, lambda _study: part)])
    study = StudyFactory()
    assert checklist.checklist(study, Role.REVIEWER, navigation.inbox(study)).next is None
    following = checklist.checklist(study, Role.EDITOR, navigation.inbox(study)).next
    assert following is not None
    assert following.step is Step.DATA
