"""Pages of one's own account, and the sign-in page."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from tests.factories import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db


def test_i_sign_out_everywhere_else() -> None:
    user, here, there = UserFactory(), Client(), Client()
    here.force_login(user)
    there.force_login(user)
    assert here.get("/account/sign-out/").status_code == 405
    assert here.post("/account/sign-out/").status_code == 302
    assert here.get("/studies/").status_code == 200
    assert there.get("/studies/").status_code == 302


def test_operators_sign_in_where_others_learn_that_they_are_not(client: Client) -> None:
    client.force_login(UserFactory())
    page = client.get("/admin/", follow=True)
    assert page.status_code == 200
    assert page.context["form"].fields.keys() >= {"username", "password"}
    operator = UserFactory(is_staff=True, is_superuser=True)
    address = page.request["PATH_INFO"]
    fields = {"username": operator.email, "password": PASSWORD, "next": "/admin/"}
    assert client.post(address, fields | {"password": "wrong"}).context["form"].errors
    assert client.post(address, fields)["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


def test_the_sign_in_page_links_how_to_get_an_account(client: Client) -> None:
    page = client.get("/login/").content.decode()
    ((guide, heading),) = re.findall(r'href="/docs/([\w/]+)/#([\w-]+)"', page)
    text = (Path(settings.BASE_DIR) / "docs" / f"{guide}.md").read_text()
    assert heading in [line.lstrip("# ").lower().replace(" ", "-") for line in text.splitlines() if line[:1] == "#"]
