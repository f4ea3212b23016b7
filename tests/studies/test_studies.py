"""Studies, members, participants and identities."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, ProgrammingError, transaction
from django.test import Client

from crowdrag.studies.domain import identity, members, studies
from crowdrag.studies.enums import ParticipantKind, Role
from crowdrag.studies.models import ConsentText, Membership, Participant, Study, User
from tests.factories import NOW, MembershipFactory, ParticipantFactory, StudyFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_whoever_makes_a_study_owns_it() -> None:
    user = UserFactory()
    study = studies.create(slug="mine", title="Mine", by=user, now=NOW)
    assert list(study.memberships.values_list("user", "role")) == [(user.pk, Role.OWNER)]


@pytest.mark.parametrize("slug", ["new", "a b", "a/b", ""])
def test_a_study_that_could_not_be_opened_is_not_made(slug: str) -> None:
    with pytest.raises(ValidationError) as refused:
        studies.create(slug=slug, title="Mine", by=None, now=NOW)
    assert list(refused.value.message_dict) == ["slug"]
    assert not Study.objects.exists()


def test_the_last_owner_can_neither_leave_nor_step_down() -> None:
    owner = MembershipFactory(role=Role.OWNER)
    with pytest.raises(members.LastOwnerError, match="only owner"):
        members.remove(study=owner.study, user=owner.user)
    with pytest.raises(members.LastOwnerError):
        members.set_role(study=owner.study, user=owner.user, role=Role.EDITOR, by=owner.user, now=NOW)
    other = UserFactory()
    members.set_role(study=owner.study, user=other, role=Role.OWNER, by=owner.user, now=NOW)
    members.remove(study=owner.study, user=owner.user)
    assert list(Membership.objects.filter(study=owner.study).values_list("user", flat=True)) == [other.pk]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("participant_kind_known", {"kind": "GHOST"}),
        ("participant_external_id_not_empty", {"external_id": ""}),
        ("participant_identity_and_hash_go_together", {"identity": b"x"}),
        ("participant_erased_has_no_identity", {"identity": b"x", "identity_hash": b"y", "erased_at": NOW}),
    ],
)
def test_participant_constraints_bite(name: str, fields: dict) -> None:
    with pytest.raises(IntegrityError, match=name):
        ParticipantFactory(**fields)


def test_one_pseudonym_per_study_and_kind() -> None:
    first = ParticipantFactory()
    ParticipantFactory(external_id=first.external_id)  # another study
    ParticipantFactory(study=first.study, external_id=first.external_id, kind=ParticipantKind.MODEL)
    with pytest.raises(IntegrityError, match="participant_external_id_unique"):
        ParticipantFactory(study=first.study, external_id=first.external_id)


def test_one_person_once_per_study() -> None:
    hashed = identity.identity_hash("5f3e")
    first = ParticipantFactory(identity=b"x", identity_hash=hashed)
    with pytest.raises(IntegrityError, match="participant_identity_once_per_study"):
        ParticipantFactory(study=first.study, identity=b"x", identity_hash=hashed)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("study_slug_not_empty", {"slug": ""}),
        ("study_currency_is_a_code", {"currency": "us"}),
        ("study_llm_budget_not_negative", {"llm_budget": -1}),
    ],
)
def test_study_constraints_bite(name: str, fields: dict) -> None:
    with pytest.raises(IntegrityError, match=name):
        StudyFactory(**fields)


def test_membership_constraints_bite() -> None:
    membership = MembershipFactory()
    with pytest.raises(IntegrityError, match="membership_once"), transaction.atomic():
        MembershipFactory(study=membership.study, user=membership.user)
    with pytest.raises(IntegrityError, match="membership_role_known"):
        MembershipFactory(role=35)


def test_addresses_of_users_are_unique_whatever_their_case() -> None:
    UserFactory(email="ada@example.org")
    with pytest.raises(IntegrityError, match="user_email_unique"):
        UserFactory(email="Ada@example.org")


def test_a_version_is_never_changed() -> None:
    study = StudyFactory()
    text = ConsentText.objects.create(
        study=study, name="consent", text="I agree.", text_licence="CC-BY-4.0", created_at=NOW
    )
    text.text = "I agree to more."
    with pytest.raises(ProgrammingError, match="Cannot update"):
        text.save()


def test_pseudonyms_of_two_studies_cannot_be_joined() -> None:
    one, two = Study(slug="one"), Study(slug="two")
    assert identity.pseudonym(one, "5f3e") == identity.pseudonym(one, "5f3e")
    assert identity.pseudonym(one, "5f3e") != identity.pseudonym(two, "5f3e")
    assert "5f3e" not in identity.pseudonym(one, "5f3e")


def test_an_identity_is_stored_encrypted_and_read_back() -> None:
    stored = identity.encrypt("5f3e")
    assert b"5f3e" not in stored
    assert identity.decrypt(stored) == "5f3e"


def login(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_login_is_by_address_in_any_case_and_leads_to_my_studies() -> None:
    user = UserFactory(email="grace@example.org")
    client = Client()
    answer = client.post("/login/", {"username": "Grace@example.org", "password": "correct horse battery"})
    assert (answer.status_code, answer["Location"]) == (302, "/studies/")
    assert client.get("/studies/").context["user"] == user
    client.post("/logout/")
    assert client.get("/studies/").status_code == 302


def test_a_wrong_password_is_said_and_lets_nobody_in() -> None:
    UserFactory(email="grace@example.org")
    client = Client()
    answer = client.post("/login/", {"username": "grace@example.org", "password": "wrong"})
    assert answer.status_code == 200
    assert answer.context["form"].non_field_errors()
    assert client.get("/studies/").status_code == 302


def test_a_password_is_changed() -> None:
    user = UserFactory()
    client = login(user)
    answer = client.post(
        "/password/",
        {
            "old_password": "correct horse battery",
            "new_password1": "staple-9-hollow",
            "new_password2": "staple-9-hollow",
        },
    )
    assert answer["Location"] == "/password/done/"
    user.refresh_from_db()
    assert user.check_password("staple-9-hollow")


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
    data = {
        "title": "Heat pumps",
        "slug": "heat-pumps",
        "language": "en",
        "text_licence": "CC-BY-4.0",
        "currency": "EUR",
        "llm_budget": "25.50",
    }
    finer = client.post("/studies/new/", data | {"llm_budget": "25.505"})
    assert (finer.status_code, "At most 2 digits" in finer.content.decode()) == (422, True)
    assert 'value="25.505"' in finer.content.decode()
    reserved = client.post("/studies/new/", data | {"slug": "new"})
    assert (reserved.status_code, list(reserved.context["form"].errors)) == (422, ["slug"])
    assert client.post("/studies/new/", data)["Location"] == "/studies/heat-pumps/"
    assert Study.objects.get().llm_budget == 2550
    assert client.post("/studies/new/", data).status_code == 422
    assert Study.objects.get().memberships.get().role == Role.OWNER


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


def test_an_editor_cannot_make_members() -> None:
    editor = MembershipFactory(role=Role.EDITOR)
    other = UserFactory()
    answer = login(editor.user).post(f"/studies/{editor.study.slug}/members/", {"email": other.email, "role": "40"})
    assert answer.status_code == 403
    assert editor.study.memberships.count() == 1


def test_participants_of_kind() -> None:
    model = ParticipantFactory(kind=ParticipantKind.MODEL)
    ParticipantFactory(study=model.study)
    assert list(Participant.objects.of_kind(ParticipantKind.MODEL)) == [model]
