"""Sessions and people read by prepared statements are those that Django would read."""

from datetime import timedelta

import pytest
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.forms.models import model_to_dict
from django.test import RequestFactory
from django.utils import timezone

from crowdrag import sessions
from crowdrag.studies import access
from tests.factories import ParticipantFactory, StudyFactory

pytestmark = pytest.mark.django_db


def kept(**content: object) -> str:
    store = sessions.SessionStore()
    store.update(content)
    store.save()
    assert store.session_key
    return store.session_key


def test_a_session_is_read_as_django_reads_it() -> None:
    key = kept(participants={"1": 2}, words="ü")
    assert sessions.SessionStore(key).load() == db.SessionStore(key).load() == {"participants": {"1": 2}, "words": "ü"}


@pytest.mark.parametrize("key", ["nobodyhasthiskey", "", None, "a\0b-----------", "\ud800aaaaaaaaaa", "' OR 1=1 --"])
def test_a_session_that_is_not_there_is_begun_anew(key: str | None) -> None:
    store = sessions.SessionStore(key)
    assert store.load() == {}
    assert store.session_key is None


def test_a_session_that_is_over_is_none() -> None:
    key = kept(a=1)
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))
    assert sessions.SessionStore(key).load() == {}


def test_who_takes_part_is_read_as_the_orm_reads_them() -> None:
    study = StudyFactory()
    person = ParticipantFactory(study=study, platform_facts={"age": 5}, specification={"a": [1]})
    ParticipantFactory(study=study)
    other = ParticipantFactory()
    request = RequestFactory().get("/")
    request.session = sessions.SessionStore()
    assert access.current_participant(request, study) is None
    access.remember_participant(request, other)
    assert access.current_participant(request, study) is None
    access.remember_participant(request, person)
    found = access.current_participant(request, study)
    person.refresh_from_db()
    study.refresh_from_db()
    assert found == person
    assert model_to_dict(found) == model_to_dict(person)
    assert model_to_dict(found.study) == model_to_dict(study)
    type(person).objects.filter(pk=person.pk).update(erased_at=timezone.now())
    assert access.current_participant(request, study) is None
