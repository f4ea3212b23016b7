"""Studies, members, participants and identities."""

from collections.abc import Callable

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, ProgrammingError, transaction
from django.test import Client

from crowdrag.studies.enums import ParticipantKind, Role
from crowdrag.studies.models import Membership, Study, User
from crowdrag.studies.participants import identity
from crowdrag.studies.study import services
from tests.factories import (
    NOW,
    PASSWORD,
    ConsentTextFactory,
    MembershipFactory,
    ParticipantFactory,
    StudyFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


def test_whoever_makes_a_study_owns_it() -> None:
    user = UserFactory()
    study = services.create(slug="mine", title="Mine", by=user, now=NOW)
    assert list(study.memberships.values_list("user", "role")) == [(user.pk, Role.OWNER)]


@pytest.mark.parametrize("slug", ["new", "a b", "a/b", ""])
def test_a_study_that_could_not_be_opened_is_not_made(slug: str) -> None:
    with pytest.raises(ValidationError) as refused:
        services.create(slug=slug, title="Mine", by=None, now=NOW)
    assert list(refused.value.message_dict) == ["slug"]
    assert not Study.objects.exists()


def test_the_last_owner_can_neither_leave_nor_step_down() -> None:
    owner = MembershipFactory(role=Role.OWNER)
    with pytest.raises(services.LastOwnerError):
        services.remove_member(study=owner.study, user=owner.user)
    with pytest.raises(services.LastOwnerError):
        services.set_role(study=owner.study, user=owner.user, role=Role.EDITOR, by=owner.user, now=NOW)
    other = UserFactory()
    services.set_role(study=owner.study, user=other, role=Role.OWNER, by=owner.user, now=NOW)
    services.remove_member(study=owner.study, user=owner.user)
    assert list(Membership.objects.filter(study=owner.study).values_list("user", flat=True)) == [other.pk]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("participant_kind_known", lambda: ParticipantFactory(kind="GHOST")),
        ("participant_external_id_not_empty", lambda: ParticipantFactory(external_id="")),
        ("participant_identity_and_hash_go_together", lambda: ParticipantFactory(identity=b"x")),
        (
            "participant_erased_has_no_identity",
            lambda: ParticipantFactory(identity=b"x", identity_hash=b"y", erased_at=NOW),
        ),
        ("study_slug_not_empty", lambda: StudyFactory(slug="")),
        ("study_currency_is_a_code", lambda: StudyFactory(currency="us")),
        ("study_llm_budget_not_negative", lambda: StudyFactory(llm_budget=-1)),
        ("membership_role_known", lambda: MembershipFactory(role=35)),
    ],
)
def test_constraints_bite(name: str, make: Callable[[], object]) -> None:
    with pytest.raises(IntegrityError, match=name):
        make()


def test_what_is_unique_is_there_once() -> None:
    hashed = identity.identity_hash("5f3e")
    first = ParticipantFactory(identity=b"x", identity_hash=hashed)
    of_first = {"study": first.study, "external_id": first.external_id}
    ParticipantFactory(external_id=first.external_id)  # another study
    ParticipantFactory(**of_first, kind=ParticipantKind.MODEL)
    member, _user = MembershipFactory(), UserFactory(email="ada@example.org")
    for name, make in (
        ("participant_external_id_unique", lambda: ParticipantFactory(**of_first)),
        (
            "participant_identity_once_per_study",
            lambda: ParticipantFactory(study=first.study, identity=b"x", identity_hash=hashed),
        ),
        ("membership_once", lambda: MembershipFactory(study=member.study, user=member.user)),
        ("user_email_unique", lambda: UserFactory(email="Ada@example.org")),
    ):
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            make()


def test_a_version_is_never_changed() -> None:
    text = ConsentTextFactory()
    text.text = "I agree to more."
    with pytest.raises(ProgrammingError, match="Cannot update"):
        text.save()


def test_an_identity_is_stored_encrypted_and_read_back_and_no_pseudonym_holds_it() -> None:
    stored = identity.encrypt("5f3e")
    assert b"5f3e" not in stored
    assert identity.decrypt(stored) == "5f3e"
    one, two = Study(slug="one"), Study(slug="two")
    assert identity.pseudonym(one, "5f3e") == identity.pseudonym(one, "5f3e") != identity.pseudonym(two, "5f3e")
    assert "5f3e" not in identity.pseudonym(one, "5f3e")


def login(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_login_is_by_address_in_any_case_and_leads_to_my_studies(client: Client) -> None:
    user = UserFactory(email="grace@example.org")
    wrong = client.post("/login/", {"username": "grace@example.org", "password": "wrong"})
    assert (wrong.status_code, client.get("/studies/").status_code) == (200, 302)
    assert wrong.context["form"].non_field_errors()
    answer = client.post("/login/", {"username": "Grace@example.org", "password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, "/studies/")
    assert client.get("/studies/").context["user"] == user
    client.post("/logout/")
    assert client.get("/studies/").status_code == 302


def test_a_password_is_changed() -> None:
    user, new = UserFactory(), "staple-9-hollow"
    given = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert login(user).post("/password/", given)["Location"] == "/password/done/"
    user.refresh_from_db()
    assert user.check_password(new)


@pytest.mark.parametrize("count", [1, 3])
def test_my_studies_takes_the_same_queries_for_one_and_three(count: int, django_assert_num_queries) -> None:
    user = UserFactory()
    for _ in range(count):
        MembershipFactory(user=user)
    MembershipFactory()  # somebody else's
    client = login(user)
    with django_assert_num_queries(3):
        answer = client.get("/studies/")
    assert len(answer.context["studies"]) == count


def test_a_study_is_made_on_its_page() -> None:
    client = login(UserFactory())
    data = {"title": "Heat pumps", "slug": "heat-pumps", "language": "en", "text_licence": "CC-BY-4.0",
            "currency": "EUR", "llm_budget": "25.50"}  # fmt: skip
    for field, value in (("llm_budget", "25.505"), ("slug", "new")):
        refused = client.post("/studies/new/", data | {field: value})
        assert (refused.status_code, list(refused.context["form"].errors)) == (422, [field])
        assert f'value="{value}"' in refused.content.decode()
    assert client.post("/studies/new/", data)["Location"] == "/studies/heat-pumps/"
    assert client.post("/studies/new/", data).status_code == 422
    study = Study.objects.get()
    assert (study.llm_budget, study.memberships.get().role) == (2550, Role.OWNER)


def test_an_owner_adds_and_removes_a_member() -> None:
    owner = MembershipFactory(role=Role.OWNER)
    other = UserFactory()
    client = login(owner.user)
    page = f"/studies/{owner.study.slug}/members/"
    assert client.post(page, {"email": other.email, "role": "20"}).status_code == 302
    assert owner.study.memberships.get(user=other).role == Role.REVIEWER
    assert client.post(page, {"email": "nobody@example.org", "role": "20"}).status_code == 422
    assert client.post(f"{page}{other.pk}/remove/").status_code == 302
    assert not owner.study.memberships.filter(user=other).exists()
    assert client.post(f"{page}{owner.user.pk}/remove/").status_code == 302
    assert owner.study.memberships.filter(user=owner.user).exists()
