"""The life of a release: drafted, built, published, never changed, marked, withdrawn."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.db import DatabaseError, transaction
from django.utils import timezone

from analysis.enums import ReleaseState
from analysis.models import Release, ReleaseFile, ReleasePerson, ReleaseTable
from analysis.releases import builds, services, storage
from analysis.releases.choices import Choices, Passages
from crowdrag.jobs import lifecycle
from crowdrag.studies.models import Study
from crowdrag.studies.participants import withdrawal
from tests.analysis.releases.release_actions import built, drafted, published
from tests.factories import NOW, ParticipantFactory, ResponseFactory, RetrievedPassageFactory, StudyFactory

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "What nobody else would ever write about wombats [0]."


@pytest.fixture(autouse=True)
def files(own_files: None, settings) -> Path:
    return settings.MEDIA_ROOT


@pytest.fixture
def study() -> Study:
    """A study whose one person wrote a text, which came with a corpus."""
    response = ResponseFactory(text=TEXT, topic__study__slug="mine", topic__study__title="Mine")
    RetrievedPassageFactory(topic=response.topic, rank=0)
    return response.study


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_versions_are_numbered_within_their_study_if_their_choices_go_together(study: Study) -> None:
    assert [drafted(study).number, drafted(study).number, drafted(StudyFactory()).number] == [1, 2, 1]
    with pytest.raises(services.ChoiceError):
        drafted(study, Choices(passages=Passages.TEXTS))


def test_what_is_built_is_listed_with_its_sums_and_nothing_else_lies_anywhere(study: Study, files: Path) -> None:
    release = built(study)
    assert release.state == ReleaseState.READY
    listed = {str(file.file.name): file for file in release.files.all()}
    lying = {str(path.relative_to(files)): path for path in files.rglob("*") if path.is_file()}
    assert set(listed) == set(lying)
    for name, path in lying.items():
        content = path.read_bytes()
        assert (listed[name].size, listed[name].sha256) == (len(content), hashlib.sha256(content).hexdigest()), name
    sums = release.files.get(path="SHA256SUMS")
    assert release.digest == sums.sha256
    with default_storage.open(sums.file.name) as file:
        said = dict(reversed(line.split("  ")) for line in file.read().decode().splitlines())
    assert said == {file.path: file.sha256 for file in release.files.exclude(path="SHA256SUMS")}
    assert not list((files.parent / "tmp").glob("release-*"))
    # The page knows tables, rows and whose they are.
    responses = release.tables.get(name="responses")
    assert (responses.rows, TEXT in str(responses.preview)) == (1, True)
    assert release.figures["rows"]["responses"] == 1
    assert list(release.people.values_list("participant__responses__text", flat=True)) == [TEXT]


@pytest.mark.extended
def test_a_draft_that_is_built_again_keeps_no_files_of_before(study: Study, files: Path) -> None:
    release = built(study, notes="first")
    before = {path for path in files.rglob("*") if path.is_file()}
    services.change(release=release, choices=Choices(judgments=False), title="Mine", notes="second")
    assert everything(files) == b""
    release.refresh_from_db()
    assert (release.state, release.digest, release.files.count()) == (ReleaseState.DRAFT, "", 0)
    lifecycle.wait(builds.start(release=release))
    after = {path for path in files.rglob("*") if path.is_file()}
    assert after
    assert not before & after
    release.refresh_from_db()
    services.discard(release=release)
    assert everything(files) == b""
    assert not Release.objects.exists()


@pytest.mark.extended
def test_the_same_study_gives_the_same_bytes(study: Study) -> None:
    first, again = built(study), drafted(study)
    Release.objects.filter(pk=first.pk).delete()
    Release.objects.filter(pk=again.pk).update(number=1)
    run = lifecycle.wait(builds.start(release=again))
    again.refresh_from_db()
    if run.created_at.date() == first.built_at.date():  # not over midnight
        assert again.digest == first.digest


@contextmanager
def refused() -> Iterator[None]:
    """The database itself does not allow it."""
    with pytest.raises(DatabaseError), transaction.atomic():
        yield


def test_nothing_of_a_published_release_changes_comes_or_goes(study: Study) -> None:
    release = published(study, notes="As it was.")
    rows = Release.objects.filter(pk=release.pk)
    other = {"title": "Other", "notes": "Other", "choices": {}, "digest": "0" * 64, "number": 7, "figures": {}}
    states = [{"state": each, "published_at": None} for each in (ReleaseState.DRAFT, ReleaseState.READY, "BUILDING")]
    for change in (*({field: value} for field, value in other.items()), *states):
        with refused():
            rows.update(**change)
    with refused():
        release.delete()
    for part in (release.files.first(), release.tables.first()):
        with refused():
            part.delete()
        part.pk = None
        with refused():
            part.save(force_insert=True)
    with refused():
        release.files.update(sha256="0" * 64)
    with refused():
        release.tables.update(rows=0)
    with refused():
        ReleasePerson.objects.create(release=release, participant=ParticipantFactory(study=study))
    for step in (
        lambda: services.change(release=release, choices=Choices()), lambda: builds.start(release=release),
        lambda: services.discard(release=release), lambda: services.publish(release=drafted(study)),
    ):  # fmt: skip
        with pytest.raises(services.ReleaseError):
            step()


def test_an_embargo_can_be_lifted_and_never_be_made_longer(study: Study) -> None:
    release = published(study, embargo_until=timezone.now() + timedelta(days=3))
    with refused():
        Release.objects.filter(pk=release.pk).update(embargo_until=release.embargo_until + timedelta(days=1))
    lifted = services.lift_embargo(release=release)
    assert services.is_served(lifted, timezone.now())
    with refused():
        Release.objects.filter(pk=release.pk).update(embargo_until=timezone.now())


def test_a_withdrawn_release_has_a_reason_and_stays_withdrawn(study: Study) -> None:
    release = published(study)
    with pytest.raises(services.ReleaseError):
        services.withdraw(release=release, reason="  ")
    gone = services.withdraw(release=release, reason="A mistake.")
    assert (gone.state, services.is_served(gone, timezone.now())) == (ReleaseState.WITHDRAWN, False)
    with pytest.raises(services.ReleaseError):
        services.publish(release=gone)


def test_erasure_marks_what_is_published_and_takes_every_trace_out_of_it(study: Study, files: Path) -> None:
    release = published(study)
    person = release.people.get().participant
    withdrawal.erase(participant=person, now=timezone.now())
    release.refresh_from_db()
    assert (release.state, release.erased_participants) == (ReleaseState.MARKED, 1)
    left = everything(files)
    assert b"wombats" not in left
    assert person.external_id.encode() not in left
    assert not ReleasePerson.objects.exists()
    assert not any(ReleaseTable.objects.values_list("preview", flat=True))
    gone = ReleaseFile.objects.filter(removed_at__isnull=False)
    assert {file.path.partition("/")[0] for file in gone} >= {"jsonl", "csv", "parquet"}
    # What says nothing of people is still there: what was released, and its sums.
    assert default_storage.exists(release.files.get(path="README.md").file.name)
    assert all(file.size >= 0 and len(file.sha256) == 64 for file in gone)


@pytest.mark.extended
def test_erasure_makes_a_draft_of_what_is_built_and_not_published(study: Study, files: Path) -> None:
    release = built(study)
    withdrawal.erase(participant=release.people.get().participant, now=timezone.now())
    release.refresh_from_db()
    assert release.state == ReleaseState.DRAFT
    assert everything(files) == b""


@pytest.mark.extended
def test_erasure_lets_what_is_being_built_begin_anew_without_them(study: Study, files: Path) -> None:
    release = drafted(study)
    run = builds.start(release=release)
    person = study.responses.get().participant
    withdrawal.erase(participant=person, now=timezone.now())
    lifecycle.wait(run)
    release.refresh_from_db()
    assert release.state == ReleaseState.READY
    assert not release.people.exists()
    assert b"wombats" not in everything(files)


@pytest.mark.extended
def test_a_release_without_what_somebody_gave_is_not_marked_when_they_leave(study: Study) -> None:
    release = published(study)
    withdrawal.erase(participant=ParticipantFactory(study=study, created_at=NOW), now=timezone.now())
    release.refresh_from_db()
    assert release.state == ReleaseState.PUBLISHED


def test_the_next_version_names_what_changed_since_the_last(study: Study) -> None:
    published(study)
    ResponseFactory(study=study, topic=study.topics.get())
    second = built(study, notes="More of it.")
    with default_storage.open(second.files.get(path="CHANGES.md").file.name) as file:
        text = file.read().decode()
    assert all(part in text for part in ("More of it.", "responses", "1", "2"))


@pytest.mark.extended
def test_what_a_killed_worker_left_is_tidied_away(study: Study, files: Path) -> None:
    release = built(study)
    left = files / storage.FOLDER / str(release.run.key) / ("0" * 16) / "left.csv"
    stray = files / storage.FOLDER / "00000000-0000-4000-8000-000000000000" / "x" / "stray.csv"
    for path in (left, stray):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"left")
    before = release.files.count()
    assert storage.tidy(timezone.now()) == 2
    assert not left.exists()
    assert not stray.parent.parent.exists()
    assert sum(path.is_file() for path in files.rglob("*")) == before


@pytest.mark.extended
def test_a_building_that_is_stopped_leaves_a_draft(study: Study, files: Path) -> None:
    release = drafted(study)
    builds.start(release=release)
    assert builds.stop(release=release).state == ReleaseState.DRAFT
    assert everything(files) == b""
    lifecycle.wait(builds.start(release=release))
    release.refresh_from_db()
    assert release.state == ReleaseState.READY
