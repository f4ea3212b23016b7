"""The life of a release: drafted, built, published, never changed, marked, withdrawn."""

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.db import DatabaseError, transaction
from django.utils import timezone

from analysis.domain.releases import building, drafting, keeping, publishing
from analysis.domain.releases.choices import Choices, Passages
from analysis.enums import ReleaseState
from analysis.models import Release, ReleaseFile, ReleasePerson, ReleaseTable
from crowdrag.runs.domain import running
from crowdrag.studies.domain import leaving
from crowdrag.studies.models import Study
from tests.factories import NOW, ParticipantFactory, ResponseFactory, RetrievedPassageFactory, StudyFactory

from .releasing import built, drafted, published

pytestmark = pytest.mark.django_db(transaction=True)
TEXT = "What nobody else would ever write about wombats [0]."


@pytest.fixture(autouse=True)
def files(tmp_path: Path, settings) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DATA_DIR = tmp_path
    return tmp_path / "files"


@pytest.fixture
def study() -> Study:
    """A study whose one person wrote a text, which came with a corpus."""
    response = ResponseFactory(text=TEXT, topic__study__slug="mine", topic__study__title="Mine")
    RetrievedPassageFactory(topic=response.topic, rank=0)
    return response.study


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_versions_are_numbered_within_their_study(study: Study) -> None:
    assert [drafted(study).number, drafted(study).number, drafted(StudyFactory()).number] == [1, 2, 1]


def test_choices_that_do_not_go_together_are_refused(study: Study) -> None:
    with pytest.raises(drafting.ReleaseError, match="terms"):
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


def test_the_page_knows_tables_rows_and_whose_they_are(study: Study) -> None:
    release = built(study)
    responses = release.tables.get(name="responses")
    assert responses.rows == 1
    assert TEXT in str(responses.preview)
    assert release.figures["rows"]["responses"] == 1
    assert list(release.people.values_list("participant__responses__text", flat=True)) == [TEXT]


def test_a_draft_that_is_built_again_keeps_no_files_of_before(study: Study, files: Path) -> None:
    release = built(study, notes="first")
    before = {path for path in files.rglob("*") if path.is_file()}
    drafting.change(release=release, choices=Choices(judgments=False), title="Mine", notes="second")
    assert everything(files) == b""
    release.refresh_from_db()
    assert (release.state, release.digest, release.files.count()) == (ReleaseState.DRAFT, "", 0)
    running.wait(building.start(release=release))
    after = {path for path in files.rglob("*") if path.is_file()}
    assert after
    assert not before & after


def test_what_is_thrown_away_leaves_no_files(study: Study, files: Path) -> None:
    drafting.discard(release=built(study))
    assert everything(files) == b""
    assert not Release.objects.exists()


def test_the_same_study_gives_the_same_bytes(study: Study) -> None:
    first, again = built(study), drafted(study)
    Release.objects.filter(pk=first.pk).delete()
    Release.objects.filter(pk=again.pk).update(number=1)
    run = running.wait(building.start(release=again))
    again.refresh_from_db()
    if run.created_at.date() == first.built_at.date():  # not over midnight
        assert again.digest == first.digest


def test_nothing_of_a_published_release_can_be_changed(study: Study) -> None:
    release = published(study, notes="As it was.")
    rows = Release.objects.filter(pk=release.pk)
    other = {"title": "Other", "notes": "Other", "choices": {}, "digest": "0" * 64, "number": 7, "figures": {}}
    for field, value in other.items():
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(**{field: value})
    for state in (ReleaseState.DRAFT, ReleaseState.READY, ReleaseState.BUILDING):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(state=state, published_at=None)
    with pytest.raises(drafting.ReleaseError):
        drafting.change(release=release, choices=Choices())
    with pytest.raises(drafting.ReleaseError):
        building.start(release=release)


def test_nothing_of_a_published_release_comes_or_goes(study: Study) -> None:
    release = published(study)
    file, table = release.files.first(), release.tables.first()
    with pytest.raises(DatabaseError):
        release.delete()
    for part in (file, table):
        with pytest.raises(DatabaseError), transaction.atomic():
            part.delete()
        part.pk = None
        with pytest.raises(DatabaseError), transaction.atomic():
            part.save(force_insert=True)
    with pytest.raises(DatabaseError), transaction.atomic():
        release.files.update(sha256="0" * 64)
    with pytest.raises(DatabaseError), transaction.atomic():
        release.tables.update(rows=0)
    with pytest.raises(DatabaseError), transaction.atomic():
        ReleasePerson.objects.create(release=release, participant=ParticipantFactory(study=study))
    with pytest.raises(drafting.ReleaseError):
        drafting.discard(release=release)


def test_an_embargo_can_be_lifted_and_never_be_made_longer(study: Study) -> None:
    release = published(study, embargo_until=timezone.now() + timedelta(days=3))
    with pytest.raises(DatabaseError), transaction.atomic():
        Release.objects.filter(pk=release.pk).update(embargo_until=release.embargo_until + timedelta(days=1))
    lifted = publishing.lift_embargo(release=release)
    assert publishing.is_served(lifted, timezone.now())
    with pytest.raises(DatabaseError), transaction.atomic():
        Release.objects.filter(pk=release.pk).update(embargo_until=timezone.now())


def test_a_withdrawn_release_says_why_and_stays_withdrawn(study: Study) -> None:
    release = published(study)
    with pytest.raises(drafting.ReleaseError, match="why"):
        publishing.withdraw(release=release, reason="  ")
    gone = publishing.withdraw(release=release, reason="A mistake.")
    assert (gone.state, publishing.is_served(gone, timezone.now())) == (ReleaseState.WITHDRAWN, False)
    with pytest.raises(drafting.ReleaseError):
        publishing.publish(release=gone)


def test_only_what_is_built_is_published(study: Study) -> None:
    with pytest.raises(drafting.ReleaseError):
        publishing.publish(release=drafted(study))


def test_erasure_marks_what_is_published_and_takes_every_trace_out_of_it(study: Study, files: Path) -> None:
    release = published(study)
    person = release.people.get().participant
    leaving.erase(participant=person, now=timezone.now())
    release.refresh_from_db()
    assert (release.state, release.people_gone) == (ReleaseState.MARKED, 1)
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


def test_erasure_makes_a_draft_of_what_is_built_and_not_published(study: Study, files: Path) -> None:
    release = built(study)
    leaving.erase(participant=release.people.get().participant, now=timezone.now())
    release.refresh_from_db()
    assert release.state == ReleaseState.DRAFT
    assert everything(files) == b""


def test_erasure_lets_what_is_being_built_begin_anew_without_them(study: Study, files: Path) -> None:
    release = drafted(study)
    run = building.start(release=release)
    person = study.responses.get().participant
    leaving.erase(participant=person, now=timezone.now())
    running.wait(run)
    release.refresh_from_db()
    assert release.state == ReleaseState.READY
    assert not release.people.exists()
    assert b"wombats" not in everything(files)


def test_a_release_without_what_somebody_gave_is_not_marked_when_they_leave(study: Study) -> None:
    release = published(study)
    leaving.erase(participant=ParticipantFactory(study=study, created_at=NOW), now=timezone.now())
    release.refresh_from_db()
    assert release.state == ReleaseState.PUBLISHED


def test_the_next_version_says_what_changed_since_the_last(study: Study) -> None:
    published(study)
    ResponseFactory(study=study, topic=study.topics.get())
    second = built(study, notes="More of it.")
    with default_storage.open(second.files.get(path="CHANGES.md").file.name) as file:
        text = file.read().decode()
    assert "More of it." in text
    assert "Since version 1" in text
    assert "responses" in text


def test_what_a_killed_worker_left_is_tidied_away(study: Study, files: Path) -> None:
    release = built(study)
    left = files / keeping.FOLDER / str(release.run.key) / ("0" * 16) / "left.csv"
    stray = files / keeping.FOLDER / "00000000-0000-4000-8000-000000000000" / "x" / "stray.csv"
    for path in (left, stray):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"left")
    before = release.files.count()
    assert keeping.tidy(timezone.now()) == 2
    assert not left.exists()
    assert not stray.parent.parent.exists()
    assert sum(path.is_file() for path in files.rglob("*")) == before


def test_a_building_that_is_stopped_leaves_a_draft(study: Study, files: Path) -> None:
    release = drafted(study)
    building.start(release=release)
    assert building.stop(release=release).state == ReleaseState.DRAFT
    assert everything(files) == b""
    running.wait(building.start(release=release))
    release.refresh_from_db()
    assert release.state == ReleaseState.READY
