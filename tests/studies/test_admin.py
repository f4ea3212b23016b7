"""Django admin over it all, for the operator alone."""

import pytest
from django.contrib import admin
from django.test import Client

from tests.factories import JudgmentFactory, MembershipFactory, RetrievedPassageFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_every_list_opens_for_operators() -> None:
    JudgmentFactory()
    RetrievedPassageFactory()
    MembershipFactory()
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    for model in admin.site._registry:
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert client.get(path).status_code == 200, model
        row = model._default_manager.first()
        assert row is None or client.get(f"{path}{row.pk}/change/").status_code == 200, model


def test_researchers_do_not_get_in() -> None:
    client = Client()
    client.force_login(UserFactory())
    assert client.get("/admin/").status_code == 302


def test_the_platforms_id_of_a_person_is_not_shown() -> None:
    from crowdrag.studies.admin import ParticipantAdmin

    assert {"identity", "identity_hash"} <= set(ParticipantAdmin.exclude)
