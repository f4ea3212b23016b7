"""The pages of releases, as members see them, as everybody does, and by private links."""

import hashlib
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from analysis.models import PersonalDataFinding, Release, ReleaseLink
from analysis.releases import builds, services
from analysis.releases.forms import ReleaseForm
from crowdrag.audit.models import AccessLogEntry
from crowdrag.jobs import lifecycle
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from crowdrag.studies.participants import withdrawal
from tests.analysis.page_visits import client_of
from tests.analysis.releases.release_actions import built, drafted, published
from tests.factories import ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files", "one_transaction")]
SCRIPT = "<script>alert(1)</script> Wombats dig [0]. Write to jane.doe@example.org."


@pytest.fixture
def study() -> Study:
    return ResponseFactory(text="Wombats dig [0].", topic__study__slug="mine", topic__study__title="Mine").study


@pytest.fixture
def owner(study: Study) -> Client:
    return client_of(study, Role.OWNER)


@pytest.fixture
def anybody() -> Client:
    return Client()


def at(name: str, release: Release, *more: object) -> str:
    return reverse(name, args=[release.study.slug, release.number, *more])


def html(answer) -> str:
    return answer.content.decode()


def filled(study: Study, owner: Client) -> dict[str, object]:
    """The form of a new version as it is offered."""
    initial = owner.get(reverse("release_new", args=[study.slug])).context["form"].initial
    return {name: value for name, value in initial.items() if value not in (None, False)}


def test_a_version_goes_from_the_form_to_the_public_by_buttons(study: Study, owner: Client, anybody: Client) -> None:
    assert owner.get(reverse("releases", args=[study.slug])).status_code == 200
    sent = {"creators": "Ada Lovelace; Somewhere; 0000-0002-1825-0097\nCharles Babbage", "doi": "doi:10.5281/z.1"}
    answer = owner.post(reverse("release_new", args=[study.slug]), filled(study, owner) | sent)
    release = Release.objects.get()
    assert answer["Location"] == at("release", release)
    assert [creator["name"] for creator in release.creators] == ["Ada Lovelace", "Charles Babbage"]
    assert release.doi == "10.5281/z.1"
    assert f'action="{at("release_build", release)}"' in html(owner.get(at("release", release)))
    owner.post(at("release_build", release))
    # How far the building is moves in the page, which is loaded anew when it has ended.
    assert f'hx-get="{at("release_progress", release)}"' in html(owner.get(at("release", release)))
    moving = html(owner.get(at("release_progress", release)))
    assert ("<progress" in moving, "<html" in moving) == (True, False)
    release.refresh_from_db()
    lifecycle.wait(release.run)
    ended = owner.get(at("release_progress", release))
    assert (ended.status_code, ended["HX-Refresh"]) == (204, "true")
    assert at("release_progress", release) not in html(owner.get(at("release", release)))
    assert anybody.get(at("public_release", release)).status_code == 404
    owner.post(at("release_publish", release))
    page = html(anybody.get(at("public_release", release)))
    assert "Wombats dig" in page
    assert "Ada Lovelace" in page
    assert anybody.get(reverse("public_latest", args=[study.slug]))["Location"] == at("public_release", release)
    assert "Mine" in html(anybody.get(reverse("public_releases")))


def test_what_is_wrong_in_the_form_is_refused_by_its_field(study: Study, owner: Client) -> None:
    form = filled(study, owner)
    for wrong, field in (
        ({"passages": "TEXTS", "passage_terms": ""}, None),  # what does not go together
        ({"creators": "Ada; Somewhere; 0000-0002-1825-0098"}, "creators"),
        ({"creators": "Ada; https://orcid.org/0000-0002-1825"}, "creators"),
        ({"embargo_until": "2020-01-01"}, "embargo_until"),
    ):
        answer = owner.post(reverse("release_new", args=[study.slug]), form | wrong)
        assert answer.status_code == 422, wrong
        assert field is None or set(answer.context["form"].errors) <= {field, "__all__"}
        assert answer.context["form"].errors or field is None
    assert not Release.objects.exists()
    for name in ("licence", "log_licence", "timing_licence"):
        assert ReleaseForm(study, {name: "bananas"}).errors.as_data()[name][0].code == "unknown_licence"
        assert not {name} & {
            *ReleaseForm(study, {name: "LicenseRef-ours"}).errors,
            *ReleaseForm(study, {name: ""}).errors,
        }


@pytest.mark.extended
def test_anybody_downloads_and_goes_on_where_it_stopped(study: Study, anybody: Client) -> None:
    release = published(study)
    for file in release.files.all():
        whole = b"".join(anybody.get(at("public_release_file", release, file.path)))
        assert hashlib.sha256(whole).hexdigest() == file.sha256
    place = at("public_release_file", release, "README.md")
    rest = anybody.get(place, headers={"Range": "bytes=10-"})
    readme = b"".join(anybody.get(place))
    assert (rest.status_code, b"".join(rest)) == (206, readme[10:])
    assert anybody.get(place)["Access-Control-Allow-Origin"] == "*"
    assert anybody.get(at("public_release_file", release, "../../secret")).status_code == 404


def test_under_an_embargo_sizes_and_sums_are_public_and_files_and_rows_are_not(
    study: Study, owner: Client, anybody: Client
) -> None:
    release = published(study, embargo_until=timezone.now() + timedelta(days=9))
    page = html(anybody.get(at("public_release", release)))
    assert release.files.get(path="README.md").sha256 in page
    assert "Wombats dig" not in page
    assert at("public_release_zip", release) not in page
    assert anybody.get(at("public_release_zip", release)).status_code == 403
    assert anybody.get(at("public_release_file", release, "README.md")).status_code == 403
    release.files.filter(path="README.md").update(file="", removed_at=timezone.now())
    assert anybody.get(at("public_release_file", release, "README.md")).status_code == 410
    owner.post(at("release_embargo", release))
    assert anybody.get(at("public_release_file", release, "SHA256SUMS")).status_code == 200
    assert anybody.get(at("public_release_zip", release)).status_code == 200


@pytest.mark.extended
def test_that_somebody_left_is_on_the_page_for_all_to_see_and_in_no_file(study: Study, anybody: Client) -> None:
    release = published(study)
    withdrawal.erase(participant=release.people.get().participant, now=timezone.now())
    page = html(anybody.get(at("public_release", release)))
    assert 'data-testid="people-gone"' in page
    assert "Wombats" not in page
    assert anybody.get(at("public_release_file", release, "jsonl/responses.jsonl.gz")).status_code == 410
    assert anybody.get(at("public_release_file", release, "README.md")).status_code == 200
    second = published(study)
    assert at("public_release", second) in html(anybody.get(at("public_release", release)))


@pytest.mark.extended
def test_a_withdrawn_version_gives_its_reason_and_nothing_else(study: Study, owner: Client, anybody: Client) -> None:
    release = published(study)
    assert owner.post(at("release_withdraw", release), {"reason": ""}).status_code == 422
    owner.post(at("release_withdraw", release), {"reason": "The wrong passages."})
    assert "The wrong passages." in html(anybody.get(at("public_release", release)))
    for address in (at("public_release_file", release, "README.md"), at("public_release_zip", release)):
        gone = anybody.get(address)
        assert (gone.status_code, "The wrong passages." in html(gone)) == (410, True)
    # Members still have it, and what is built and not published.
    next_ = built(study)
    assert anybody.get(at("public_release_zip", next_)).status_code == 404
    assert [owner.get(at("release_zip", each)).status_code for each in (release, next_)] == [200, 200]
    assert AccessLogEntry.objects.filter(content=AuditedContent.FILE, page="release_zip").exists()
    assert at("release_zip", next_) in html(owner.get(at("release", next_)))


def test_a_private_link_opens_what_is_not_published_until_it_ends(study: Study, owner: Client, anybody: Client) -> None:
    release = built(study)
    page = owner.post(at("release_link", release), {"label": "Reviewers", "days": 30})
    address = page.context["made_link"].removeprefix("http://testserver")
    answer = anybody.get(address)
    assert "Wombats dig" in html(answer)
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert b"".join(anybody.get(f"{address}files/README.md")).startswith(b"---")
    key = address.rstrip("/").rpartition("/")[2]
    packed = reverse("private_release_zip", args=[key])
    assert (packed in html(answer), at("public_release_zip", release) in html(answer)) == (True, False)
    sent = anybody.get(packed)
    assert (sent["X-Robots-Tag"], sent["Cache-Control"]) == ("noindex", "private, no-cache")
    assert key not in html(owner.get(at("release", release)))
    link = ReleaseLink.objects.get()
    assert link.used_at is not None
    assert services.open_link(key, now=link.expires_at + timedelta(seconds=1)) is None
    owner.post(at("release_revoke", release, link.pk))
    for gone in (address, f"{address}files/README.md", packed):
        assert anybody.get(gone).status_code == 404


def test_texts_are_shown_as_texts_and_what_looks_like_personal_data_waits(study: Study) -> None:
    ResponseFactory(study=study, topic=study.topics.get(), text=SCRIPT)
    release, reviewer = built(study), client_of(study, Role.REVIEWER)
    answer = reviewer.get(at("release", release))
    assert "jane.doe" not in html(answer)  # undecided: left out, and counted
    assert answer.context["waiting"] == 1
    page = html(reviewer.get(reverse("personal_data_findings", args=[study.slug])))
    assert "<mark>jane.doe@example.org</mark>" in page
    assert "<script>alert(1)" not in page
    finding = PersonalDataFinding.objects.get()
    reviewer.post(reverse("personal_data_decide", args=[study.slug]), {"finding": finding.pk, "verdict": "REDACT"})
    page = html(reviewer.get(at("release", built(study))))
    assert "████" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page


def test_a_building_that_failed_leads_to_its_run_and_can_be_stopped(study: Study, owner: Client) -> None:
    release = drafted(study)
    run = lifecycle.cancel(run=builds.start(release=release))
    page = html(owner.get(at("release", release)))
    assert reverse("run", args=[study.slug, run.key]) in page
    assert f'action="{at("release_stop", release)}"' in page


@pytest.mark.extended
def test_lists_ask_as_often_for_many_as_for_few(study: Study) -> None:
    viewer = client_of(study)

    def asked() -> list[int]:
        counts = []
        for address in (reverse("releases", args=[study.slug]), reverse("public_releases")):
            with CaptureQueriesContext(connection) as queries:
                assert viewer.get(address).status_code == 200
            counts.append(len(queries))
        return counts

    published(study)
    few = asked()
    for _number in range(3):
        drafted(study)
    services.publish(release=built(study))
    assert asked() == few
