"""Notes of staff: written and removed by those who may, seen by nobody else, erased with the person."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Participant, StaffNote, User
from crowdrag.studies.notes import services
from crowdrag.studies.participants import withdrawal
from tests.api.conftest import by_token
from tests.factories import NOW, MembershipFactory, ParticipantFactory
from tests.participants import as_participant
from tests.studies.activity import offered_study
from tests.submitted_responses import submitted
from writing.models import WritingTask

pytestmark = pytest.mark.django_db
WORDS = "Writes like a machine <b>at night</b>."


@pytest.fixture
def task() -> WritingTask:
    return submitted(offered_study())


@pytest.fixture
def person(task: WritingTask) -> Participant:
    assert task.participant is not None
    return task.participant


def member(person: Participant, role: Role = Role.REVIEWER) -> User:
    return MembershipFactory(study=person.study, role=role).user


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def add(person: Participant, by: User, text: str = WORDS, **more: Any) -> StaffNote:
    return services.add(participant=person, text=text, by=by, now=NOW, **more)


def test_a_note_is_on_a_participant_or_on_one_piece_of_work(person: Participant, task: WritingTask) -> None:
    by = member(person)
    on_person, on_work = add(person, by), add(person, by, about=task.external_id)
    add(person, by, about="another task")
    assert add(person, by, about=task.external_id) == on_work  # the same request once more
    assert services.of_work(person, task.external_id) == [on_person, on_work]
    for text in ("", " \0 ", "x" * 5001):
        with pytest.raises(services.NoteError):
            add(person, by, text)


def test_its_author_and_owners_remove_a_note(person: Participant) -> None:
    by, colleague, owner = member(person), member(person), member(person, Role.OWNER)
    first, second = add(person, by), add(person, by, "Another.")
    with pytest.raises(services.NoteError):
        services.remove(note=first, by=colleague)
    services.remove(note=first, by=by)
    for _ in range(2):
        services.remove(note=second, by=owner)
    assert not StaffNote.objects.exists()


def test_notes_are_erased_with_the_person_and_none_is_written_after(person: Participant) -> None:
    by = member(person)
    add(person, by)
    other = add(ParticipantFactory(study=person.study), by)
    withdrawal.erase(participant=person, now=NOW)
    assert list(StaffNote.objects.all()) == [other]
    with pytest.raises(services.NoteError):
        add(person, by)


def test_staff_write_notes_on_the_page_of_a_response_and_participants_see_none(
    person: Participant, task: WritingTask, client: Client
) -> None:
    page = reverse("review_task", args=[person.study.slug, task.external_id])
    desk = client_of(member(person))
    address = reverse("note_add", args=[person.study.slug, person.pk])
    answer = desk.post(address, {"text": WORDS, "about": task.external_id, "back": page})
    assert answer["Location"] == f"{page}#notes"
    assert [note.text for note in desk.get(page).context["notes"]] == [WORDS]
    assert WORDS not in desk.get(page).content.decode()  # escaped
    as_participant(client, person)
    for name in ("participant_dashboard", "participant_message_new"):
        assert "Writes like a machine" not in client.get(reverse(name, args=[person.study.slug])).content.decode()
    desk.post(address, {"text": " ", "back": "https://elsewhere.example/"})
    note = StaffNote.objects.get()
    remove = reverse("note_remove", args=[person.study.slug, note.pk])
    client_of(member(person)).post(remove)
    assert StaffNote.objects.exists()
    desk.post(remove)
    assert not StaffNote.objects.exists()


def test_notes_by_the_api(person: Participant, task: WritingTask) -> None:
    by = member(person)
    client, address = by_token(by), f"/api/v1/studies/{person.study.slug}/notes/"
    fields = {"participant": person.external_id, "about": task.external_id, "text": WORDS}
    made = [client.post(address, fields, format="json").json() for _ in range(2)]
    assert made[0]["id"] == made[1]["id"]
    assert (made[0]["text"], made[0]["by"]) == (WORDS, by.email)
    rows = client.get(address, {"participant": person.external_id}).json()["results"]
    assert [row["id"] for row in rows] == [made[0]["id"]]
    assert client.post(address, fields | {"participant": "nobody"}, format="json").status_code == 400
    one = f"{address}{made[0]['id']}/"
    assert by_token(member(person)).delete(one).status_code == 403
    assert client.delete(one).status_code == 204
