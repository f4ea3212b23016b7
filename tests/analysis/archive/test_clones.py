"""Clones of studies: what comes along, what stays, and that a whole study can be deleted."""

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from analysis.archive import clones
from annotation.enums import CampaignState
from annotation.models import Campaign
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.enums import ParticipantKind, Role
from crowdrag.studies.models import Participant, Study
from crowdrag.studies.study import deletion
from tests.analysis.whole_study import whole_study
from tests.factories import NOW, MembershipFactory, ParticipantFactory, ResponseFactory, TopicFactory
from writing.corpus import responses
from writing.corpus.imports.problems import Problems
from writing.corpus.responses import ResponseInput
from writing.models import Citation, Passage, RetrievedPassage, Topic, WritingPlan

pytestmark = pytest.mark.django_db


def clone(study: Study, *, with_responses: bool = False, slug: str = "copy") -> Study:
    user = MembershipFactory(study=study, role=Role.EDITOR).user
    run = clones.start(source=study, slug=slug, title="Copy", with_responses=with_responses, by=user, now=NOW)
    assert lifecycle.wait(run).state == RunState.DONE, run.error
    assert [member.role for member in run.study.memberships.all()] == [Role.OWNER]
    return run.study


def test_a_clone_has_texts_topics_and_drafts_and_nobody() -> None:
    study = whole_study()
    copy = clone(study)
    assert (copy.description, copy.llm_budget, copy.is_simulated) == (study.description, study.llm_budget, False)
    current = Topic.objects.filter(study=study).current()
    assert list(Topic.objects.filter(study=copy).values_list("external_id", "query").order_by("external_id")) == list(
        current.values_list("external_id", "query").order_by("external_id")
    )
    lists = [
        RetrievedPassage.objects.filter(topic__in=topics).order_by("topic__external_id", "rank")
        .values_list("topic__external_id", "rank", "passage__external_id", "passage__study")
        for topics in (current, Topic.objects.filter(study=copy))
    ]  # fmt: skip
    assert [row[:3] for row in lists[0]] == [row[:3] for row in lists[1]]
    assert {row[3] for row in lists[1]} <= {copy.pk}
    assert {plan.is_open for plan in WritingPlan.objects.filter(study=copy)} <= {False}
    drafts = Campaign.objects.filter(study=copy)
    assert {campaign.state for campaign in drafts} == {CampaignState.DRAFT}
    assert all(dimension.study_id == copy.pk for campaign in drafts for dimension in campaign.dimensions.all())
    assert not copy.participants.exists()
    assert not copy.responses.exists()
    assert not copy.entry_links.exists()


def test_imported_responses_of_systems_come_along_if_asked_and_those_of_people_never_do() -> None:
    study = MembershipFactory().study
    topic = TopicFactory(study=study, external_id="t-1")
    passage = Passage.objects.create(study=study, external_id="p-1", text="It is cold.")
    RetrievedPassage.objects.create(topic=topic, passage=passage, rank=0)
    given = [
        ResponseInput("r-1", "t-1", "essay", ParticipantKind.SYSTEM, "alpha", text="It is [0]."),
        ResponseInput("r-2", "t-1", "essay", ParticipantKind.CROWD, "w-1", text="It is not."),
    ]
    responses.store(study=study, responses=given, problems=Problems(), now=NOW)
    ResponseFactory(study=study, topic=topic, participant=ParticipantFactory(study=study))
    assert not clone(study, slug="without").responses.exists()
    copy = clone(study, with_responses=True, slug="with")
    assert [(each.external_id, each.text, each.participant.external_id) for each in copy.responses.all()] == [
        ("r-1", study.responses.get(external_id="r-1").text, "alpha")
    ]
    [citation] = Citation.objects.filter(statement__response__study=copy)
    assert citation.retrieved.passage.study_id == copy.pk
    assert [each.kind for each in Participant.objects.filter(study=copy)] == [ParticipantKind.SYSTEM]


def test_an_editor_clones_and_the_short_name_must_be_free(client: Client) -> None:
    member = MembershipFactory(role=Role.EDITOR)
    address = reverse("study_clone", args=[member.study.slug])
    client.force_login(MembershipFactory(study=member.study, role=Role.REVIEWER).user)
    assert client.post(address, {"title": "Copy", "slug": "copy"}).status_code == 403
    client.force_login(member.user)
    taken = client.post(address, {"title": "Copy", "slug": member.study.slug})
    assert (taken.status_code, list(taken.context["form"].errors)) == (422, ["slug"])
    assert client.post(address, {"title": "Copy", "slug": "copy"}).status_code == 302
    assert Study.objects.get(slug="copy").memberships.get().user == member.user


def test_a_study_with_rows_in_every_table_is_deleted_whole() -> None:
    study, copy_of = whole_study(), whole_study("other")
    counts = {model: model._base_manager.filter(**{path: copy_of}).count() for model, path in deletion.study_tables()}
    Study.objects.filter(pk=study.pk).update(deletion_requested_at=NOW)
    while deletion.remove_requested(NOW):
        pass
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    assert not Study.objects.filter(pk=study.pk).exists()
    for model, path in deletion.study_tables():
        assert model._base_manager.filter(**{path: copy_of}).count() == counts[model], model
    assert sum(counts.values()) > 100
