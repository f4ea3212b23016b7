"""Django admin over it all, for the operator alone."""

import pytest
from django.contrib import admin
from django.test import Client

from tests.factories import JudgmentFactory, MembershipFactory, RetrievedPassageFactory, UserFactory

pytestmark = pytest.mark.django_db
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)


@pytest.mark.parametrize("model", MODELS, ids=[model._meta.label for model in MODELS])
def test_every_list_opens_for_operators(model) -> None:
    JudgmentFactory()
    RetrievedPassageFactory()
    MembershipFactory()
    client = Client()
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    assert client.get(path).status_code == 200
    row = model.objects.first()
    if row is not None:
        assert client.get(f"{path}{row.pk}/change/").status_code == 200


def test_researchers_do_not_get_in() -> None:
    client = Client()
    client.force_login(UserFactory())
    assert client.get("/admin/").status_code == 302


def test_the_platforms_id_of_a_person_is_not_shown() -> None:
    from crowdrag.studies.admin import ParticipantAdmin

    assert {"identity", "identity_hash"} <= set(ParticipantAdmin.exclude)
