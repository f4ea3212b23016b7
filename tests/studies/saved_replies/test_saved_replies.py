"""Saved replies: one title each, changed and deleted, and offered where they are used."""

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.studies.enums import ReplyKind, Role
from crowdrag.studies.models import SavedReply, Study, User
from crowdrag.studies.saved_replies import services
from tests.factories import NOW, MembershipFactory, StudyFactory
from tests.submitted_responses import submitted

pytestmark = pytest.mark.django_db
K = ReplyKind


@pytest.fixture
def study() -> Study:
    return StudyFactory()


@pytest.fixture
def by(study: Study) -> User:
    return MembershipFactory(study=study, role=Role.REVIEWER).user


def save(
    study: Study, by: User, title: str = "No citations", text: str = "Cite.", kind: K = K.REJECTION,
    reply: SavedReply | None = None,
) -> SavedReply:  # fmt: skip
    return services.save(study=study, kind=kind, title=title, text=text, by=by, now=NOW, reply=reply)


def test_a_title_is_used_once_for_each_kind(study: Study, by: User) -> None:
    first = save(study, by)
    assert save(study, by) == first  # the same request once more
    other = save(study, by, kind=K.ANSWER)
    for change in ({"text": "Otherwise."}, {"kind": K.REJECTION, "reply": other}, {"title": " "}, {"text": "x" * 2001}):
        with pytest.raises(services.SavedReplyError):
            save(study, by, **change)  # type: ignore[arg-type]
    save(study, by, text="Cite each claim.", reply=first)
    save(StudyFactory(), by)
    found = services.by_kind(study)
    assert {kind: [reply.text for reply in replies] for kind, replies in found.items()} == {
        K.REJECTION: ["Cite each claim."],
        K.ANSWER: ["Cite."],
    }


def test_reviewers_write_change_and_delete_them(study: Study, by: User, client: Client) -> None:
    client.force_login(by)
    new = reverse("saved_reply_new", args=[study.slug])
    fields = {"kind": K.REJECTION, "title": "Off topic", "text": "It answers another question."}
    assert client.post(new, fields | {"text": ""}).status_code == 422
    assert client.post(new, fields)["Location"] == reverse("saved_replies", args=[study.slug])
    assert client.post(new, fields | {"text": "Otherwise."}).status_code == 422
    reply = SavedReply.objects.get()
    page = reverse("saved_reply", args=[study.slug, reply.pk])
    assert client.get(page).status_code == client.get(reverse("saved_replies", args=[study.slug])).status_code == 200
    client.post(page, fields | {"title": "Off the topic"})
    task = submitted(study)
    review = client.get(reverse("review_task", args=[study.slug, task.external_id]))
    assert [each.title for each in review.context["replies"][K.REJECTION]] == ["Off the topic"]
    for _ in range(2):
        client.post(reverse("saved_reply_delete", args=[study.slug, reply.pk]))
    assert not SavedReply.objects.exists()
    assert client.get(reverse("saved_reply", args=[StudyFactory().slug, reply.pk])).status_code == 404
