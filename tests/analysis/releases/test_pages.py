"""The pages of releases, as members see them, as everybody does, and by private links."""

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analysis.domain.releases import building, linking, publishing
from analysis.enums import ReleaseState
from analysis.forms.release import ReleaseForm
from analysis.models import PersonalFinding, Release, ReleaseLink
from crowdrag.runs.domain import running
from crowdrag.studies.domain import leaving
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, ResponseFactory

from .releasing import built, drafted, published

pytestmark = pytest.mark.django_db(transaction=True)
SCRIPT = "<script>alert(1)</script> Wombats dig [0]. Write to jane.doe@example.org."


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DATA_DIR = tmp_path


@pytest.fixture
def study() -> Study:
    response = ResponseFactory(text="Wombats dig [0].", topic__study__slug="mine", topic__study__title="Mine")
    return response.study


def member(study: Study, role: Role) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def at(name: str, release: Release, *more: object) -> str:
    return reverse(name, args=[release.study.slug, release.number, *more])


def html(answer) -> str:
    return answer.content.decode()


def test_a_version_goes_from_the_form_to_the_public_by_buttons(study: Study) -> None:
    owner, anybody = member(study, Role.OWNER), Client()
    assert "No releases yet" in html(owner.get(reverse("releases", args=[study.slug])))
    page = owner.get(reverse("release_new", args=[study.slug]))
    sent = {name: value for name, value in page.context["form"].initial.items() if value not in (None, False)}
    sent |= {"creators": "Ada Lovelace; Somewhere; 0000-0002-1825-0097\nCharles Babbage", "doi": "doi:10.5281/z.1"}
    answer = owner.post(reverse("release_new", args=[study.slug]), sent)
    release = Release.objects.get()
    assert answer["Location"] == at("release", release)
    assert [creator["name"] for creator in release.creators] == ["Ada Lovelace", "Charles Babbage"]
    assert release.doi == "10.5281/z.1"
    assert "Build it" in html(owner.get(at("release", release)))
    owner.post(at("release_build", release))
    release.refresh_from_db()
    running.wait(release.run)
    assert anybody.get(at("public_release", release)).status_code == 404
    owner.post(at("release_publish", release))
    page = html(anybody.get(at("public_release", release)))
    assert "Wombats dig" in page
    assert "Ada Lovelace" in page
    assert anybody.get(reverse("public_latest", args=[study.slug]))["Location"] == at("public_release", release)
    assert "Mine" in html(anybody.get(reverse("public_releases")))


def test_choices_that_do_not_go_together_are_said_in_the_form(study: Study) -> None:
    owner = member(study, Role.OWNER)
    answer = owner.post(
        reverse("release_new", args=[study.slug]),
        {"title": "T", "topics": "on", "passages": "TEXTS", "logs": "NONE", "timing": "DAY", "pseudonyms": "FRESH"},
    )
    assert answer.status_code == 422
    assert not Release.objects.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"creators": "Ada; Somewhere; 0000-0002-1825-0098"}, "0000-0002-1825-0098 is no ORCID iD"),
        ({"creators": "Ada; https://orcid.org/0000-0002-1825"}, "0000-0002-1825 is no ORCID iD"),
        ({"embargo_until": "2020-01-01"}, "An embargo ends in the future"),
    ],
)
def test_what_is_wrong_in_the_form_is_said(study: Study, given: dict[str, str], said: str) -> None:
    owner = member(study, Role.OWNER)
    page = owner.get(reverse("release_new", args=[study.slug]))
    sent = {name: value for name, value in page.context["form"].initial.items() if value not in (None, False)}
    answer = owner.post(reverse("release_new", args=[study.slug]), sent | given)
    assert answer.status_code == 422
    assert said in html(answer)
    assert not Release.objects.exists()


@pytest.mark.parametrize("name", ["licence", "log_licence", "timing_licence"])
def test_a_licence_that_no_standard_knows_is_refused_at_its_field(study: Study, name: str) -> None:
    assert ReleaseForm(study, {name: "bananas"}).errors.as_data()[name][0].code == "unknown_licence"
    assert name not in ReleaseForm(study, {name: "LicenseRef-ours"}).errors
    assert name not in ReleaseForm(study, {name: ""}).errors


def test_a_page_shows_how_far_the_building_is_and_is_loaded_anew_when_it_has_ended(study: Study) -> None:
    release, owner = drafted(study), member(study, Role.OWNER)
    run = building.start(release=release)
    page = html(owner.get(at("release", release)))
    assert f'hx-get="{at("release_moving", release)}"' in page
    moving = owner.get(at("release_moving", release))
    assert "<progress" in html(moving)
    assert "<html" not in html(moving)
    running.wait(run)
    ended = owner.get(at("release_moving", release))
    assert (ended.status_code, ended["HX-Refresh"]) == (204, "true")
    assert at("release_moving", release) not in html(owner.get(at("release", release)))


def test_one_of_a_thing_is_named_as_one(study: Study) -> None:
    page = html(Client().get(at("public_release", published(study))))
    assert "<dt>topic</dt><dd>1</dd>" in page
    assert "<dt>response</dt><dd>1</dd>" in page


def test_only_owners_publish_and_only_editors_build(study: Study) -> None:
    release = built(study)
    for role, name in ((Role.EDITOR, "release_publish"), (Role.REVIEWER, "release_build")):
        assert member(study, role).post(at(name, release)).status_code == 403
    release.refresh_from_db()
    assert release.state == ReleaseState.READY


def test_anybody_downloads_and_goes_on_where_it_stopped(study: Study) -> None:
    release = published(study)
    anybody = Client()
    for file in release.files.all():
        whole = b"".join(anybody.get(at("public_release_file", release, file.path)))
        assert hashlib.sha256(whole).hexdigest() == file.sha256
    place = at("public_release_file", release, "README.md")
    rest = anybody.get(place, headers={"Range": "bytes=10-"})
    readme = b"".join(anybody.get(place))
    assert (rest.status_code, b"".join(rest)) == (206, readme[10:])
    assert anybody.get(place)["Access-Control-Allow-Origin"] == "*"
    assert anybody.get(at("public_release_file", release, "../../secret")).status_code == 404


def test_under_an_embargo_sizes_and_sums_are_public_and_files_and_rows_are_not(study: Study) -> None:
    release = published(study, embargo_until=timezone.now() + timedelta(days=9))
    anybody = Client()
    page = html(anybody.get(at("public_release", release)))
    assert release.files.get(path="README.md").sha256 in page
    assert "Wombats dig" not in page
    assert anybody.get(at("public_release_file", release, "README.md")).status_code == 403
    release.files.filter(path="README.md").update(file="", removed_at=timezone.now())
    assert anybody.get(at("public_release_file", release, "README.md")).status_code == 410
    member(study, Role.OWNER).post(at("release_embargo", release))
    assert anybody.get(at("public_release_file", release, "SHA256SUMS")).status_code == 200


def test_who_withdrew_is_on_the_page_for_all_to_see_and_in_no_file(study: Study) -> None:
    release, anybody = published(study), Client()
    leaving.erase(participant=release.people.get().participant, now=timezone.now())
    page = html(anybody.get(at("public_release", release)))
    assert "One person in this version has withdrawn since" in page
    assert "Wombats" not in page
    assert anybody.get(at("public_release_file", release, "jsonl/responses.jsonl.gz")).status_code == 410
    assert anybody.get(at("public_release_file", release, "README.md")).status_code == 200
    second = published(study)
    assert at("public_release", second) in html(anybody.get(at("public_release", release)))


def test_a_withdrawn_version_says_why_and_gives_nothing(study: Study) -> None:
    release = published(study)
    owner, anybody = member(study, Role.OWNER), Client()
    assert owner.post(at("release_withdraw", release), {"reason": ""}).status_code == 422
    owner.post(at("release_withdraw", release), {"reason": "The wrong passages."})
    assert "The wrong passages." in html(anybody.get(at("public_release", release)))
    gone = anybody.get(at("public_release_file", release, "README.md"))
    assert gone.status_code == 410
    assert "The wrong passages." in html(gone)


def test_a_private_link_opens_what_is_not_published_until_it_ends(study: Study) -> None:
    release = built(study)
    owner, reviewer = member(study, Role.OWNER), Client()
    page = owner.post(at("release_link", release), {"label": "Reviewers", "days": 30})
    address = page.context["made_link"].removeprefix("http://testserver")
    answer = reviewer.get(address)
    assert "Wombats dig" in html(answer)
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert b"".join(reviewer.get(f"{address}files/README.md")).startswith(b"---")
    key = address.rstrip("/").rpartition("/")[2]
    assert key not in html(owner.get(at("release", release)))
    link = ReleaseLink.objects.get()
    assert link.used_at is not None
    assert linking.opened(key, now=link.expires_at + timedelta(seconds=1)) is None
    owner.post(at("release_revoke", release, link.pk))
    assert reviewer.get(address).status_code == 404
    assert reviewer.get(f"{address}files/README.md").status_code == 404


def test_texts_are_shown_as_texts_and_what_looks_like_personal_data_waits(study: Study) -> None:
    ResponseFactory(study=study, topic=study.topics.get(), text=SCRIPT)
    release = built(study)
    reviewer = member(study, Role.REVIEWER)
    page = html(reviewer.get(at("release", release)))
    assert "jane.doe" not in page  # undecided: left out, and counted
    assert "nobody has decided" in page
    place = reverse("release_findings", args=[study.slug])
    page = html(reviewer.get(place))
    assert "<mark>jane.doe@example.org</mark>" in page
    assert "<script>alert(1)" not in page
    finding = PersonalFinding.objects.get()
    decide = reverse("release_decide", args=[study.slug])
    reviewer.post(decide, {"finding": finding.pk, "verdict": "REDACT"})
    second = built(study)
    page = html(reviewer.get(at("release", second)))
    assert "████" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page


def test_a_failed_building_says_what_to_do(study: Study) -> None:
    release = drafted(study)
    running.cancel(run=building.start(release=release))
    page = html(member(study, Role.EDITOR).get(at("release", release)))
    assert "has ended without a release" in page
    assert "Make it a draft again" in page


def test_lists_ask_as_often_for_many_as_for_few(study: Study) -> None:
    viewer = member(study, Role.VIEWER)

    def asked(address: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert viewer.get(address).status_code == 200
        return len(queries)

    place = reverse("releases", args=[study.slug])
    first = published(study)
    few = asked(place), asked(reverse("public_releases"))
    for _number in range(3):
        drafted(study)
    publishing.publish(release=built(study))
    assert (asked(place), asked(reverse("public_releases"))) == few
    assert first.number == 1
