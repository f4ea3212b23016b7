"""An archive imports to an equal study, says what is in it, and tells nothing of accounts and platform ids."""

import gzip
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, connection, transaction
from django.test import override_settings

from analysis.analyses import services
from analysis.archive import exclusions, field_docs, schema_versions, writer
from analysis.archive.archive_tables import ALL, STUDY, TABLES, of_version
from analysis.archive.columns import DanglingError
from analysis.inputs import arrays, snapshots
from analysis.models import Snapshot
from annotation.enums import AssignmentState, CampaignState, Judges
from annotation.models import Assignment, Campaign, JudgingPrompt, Judgment
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.models import Membership, Participant, Study
from crowdrag.studies.participants import identity
from tests.analysis.archive.exported import contents, export, import_archive, rows, unzipped
from tests.analysis.whole_study import HOSTILE, JUDGMENTS, PLATFORM_ID, whole_study
from tests.analysis.whole_study_judging import SESSION
from tests.factories import NOW, StudyFactory
from writing.corpus.imports import importers
from writing.enums import TaskState
from writing.models import Citation, EditingSession, WritingPlan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files", "one_transaction")]
OUR_APPS = (
    *("studies", "accounts", "audit", "api", "llm", "jobs", "webhooks", "recruitment", "payments", "mail"),
    *("writing", "annotation", "analysis", "operations", "demo"),
)
*OLDER, BEFORE = (each for each in schema_versions.READABLE if each != schema_versions.LATEST)


@pytest.fixture(scope="module")
def made(shared_rows: None, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, int, Path]:
    """A study that has everything, an empty one into which its archive was imported, and the archive: made once."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch, override_settings(MEDIA_ROOT=folder, DATA_DIR=folder):
        patch.setattr(snapshots, "repeatable_read", transaction.atomic)
        patch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)
        study, other = whole_study(), StudyFactory(slug="imported")
        path = Path(export(study).file.path)
        run = import_archive(other, path)
        assert run.state == RunState.DONE, (run.problems, run.error)
        return study.pk, other.pk, path


@pytest.fixture
def study(made: tuple[int, int, Path], db: None) -> Study:
    return Study.objects.get(pk=made[0])


@pytest.fixture
def imported(made: tuple[int, int, Path], db: None) -> Study:
    return Study.objects.get(pk=made[1])


@pytest.fixture
def archive(made: tuple[int, int, Path]) -> Path:
    return made[2]


def test_imports_to_an_equal_study(imported: Study, archive: Path) -> None:
    before, after = unzipped(archive), contents(export(imported))
    manifests = [json.loads(content.pop("manifest.json")) for content in (before, after)]
    assert before.keys() == {table.file for table in ALL}
    assert [name for name, content in before.items() if not rows(content)] == []  # every table is tried
    assert [name for name in before if before[name] != after[name]] == []
    assert manifests[0]["files"] == manifests[1]["files"]
    assert manifests[0]["study"]["slug"] != manifests[1]["study"]["slug"]
    # Texts are there to the byte. Nothing but a line feed ends a line, whatever other programs take for one.
    texts = [row["text"] for row in rows(before["data/responses.jsonl.gz"])]
    assert HOSTILE in texts
    assert len(gzip.decompress(before["data/responses.jsonl.gz"]).split(b"\n")) == len(texts) + 1


def test_an_imported_snapshot_names_the_judgments_of_the_imported_study(imported: Study) -> None:
    state = services.state(imported)
    assert state.run is not None
    assert not state.changed
    taken = arrays.unpack(bytes(Snapshot.objects.get(run=state.run).payload))
    named = Judgment.objects.filter(pk__in=taken.main.row.tolist())
    assert named.count() == len(taken.main.row) == Judgment.objects.of_study(imported).pool().count() > 0
    assert set(named.values_list("item__campaign__study", flat=True)) == {imported.pk}


def test_the_same_archive_twice_changes_nothing_even_if_it_is_uploaded(imported: Study, archive: Path) -> None:
    before = writer.content(imported)
    upload = SimpleUploadedFile("any name.zip", archive.read_bytes())
    run = lifecycle.wait(importers.start(study=imported, importer=importers.get("archive"), files={"file": [upload]}))
    assert run.state == RunState.DONE, (run.problems, run.error, run.units.get().error)
    assert run.summary["held_already"]["judgments"] == JUDGMENTS
    assert "judgments" not in run.summary
    assert writer.content(imported) == before


def test_a_row_of_another_study_is_not_exported(study: Study, imported: Study) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")  # an import has them checked at once
    citation = Citation.objects.filter(statement__response__study=study).first()
    foreign = Citation.objects.filter(statement__response__study=imported).last()
    assert citation is not None
    assert foreign is not None
    Citation.objects.filter(pk=citation.pk).update(retrieved=foreign.retrieved)
    with pytest.raises(DanglingError, match=rf"{foreign.retrieved_id}\b.*\bretrieved\b"):
        writer.content(study)


def test_the_manifest_holds_the_sums_and_fields_of_what_is_there(archive: Path) -> None:
    files = unzipped(archive)
    manifest = json.loads(files.pop("manifest.json"))
    assert {entry["path"] for entry in manifest["files"]} == set(files) == set(manifest["fields"])
    for entry in manifest["files"]:
        content = files[entry["path"]]
        text = gzip.decompress(content)
        assert entry["rows"] == len(rows(content))
        assert (entry["bytes"], entry["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
        assert (entry["content_bytes"], entry["content_sha256"]) == (len(text), hashlib.sha256(text).hexdigest())
        names = [field["name"] for field in manifest["fields"][entry["path"]]["fields"]]
        assert all(list(row) == names for row in rows(content))
    assert manifest["study"]["is_simulated"] is True
    assert manifest["licence"]["consent_texts"][0]["text_licence"] == "CC0-1.0"


def test_holds_nothing_of_accounts_and_platform_ids(study: Study, archive: Path) -> None:
    member = Membership.objects.get(study=study).user
    text = b"".join(
        content if name == "manifest.json" else gzip.decompress(content) for name, content in unzipped(archive).items()
    )
    person = Participant.objects.get(study=study, identity__isnull=False)
    hashed = identity.identity_hash(PLATFORM_ID).hex()
    for secret in (PLATFORM_ID, SESSION, member.email, member.name, bytes(person.identity).decode(), hashed):
        assert secret.encode() not in text
    facts = [json.loads(line)["platform_facts"] for line in text.split(b"\n") if b'"platform_facts":{"' in line]
    assert facts == [{"ids": ["other"], "scores": {"a": 1e-300}, "country": "DE"}]


def test_a_plan_comes_in_closed_and_a_revision_still_revises(study: Study, imported: Study) -> None:
    assert study.writing_plan.is_open
    assert not imported.writing_plan.is_open
    assert imported.writing_plan.consent_text.study == imported
    chain = imported.writing_tasks.filter(revises__isnull=False).order_by("id").values_list("external_id", "revises")
    names = dict(imported.writing_tasks.values_list("pk", "external_id"))
    assert [(name, names[revised]) for name, revised in chain] == [("again-1", "again-0"), ("again-2", "again-1")]
    later = EditingSession.objects.get(log__task__study=imported, number=1)
    assert (later.base.number, later.base.log) == (0, later.log)


def test_an_open_campaign_comes_in_closed_with_all_that_its_judges_did(study: Study, imported: Study) -> None:
    before = study.campaigns.get(has_slots=True, source=None)
    after = imported.campaigns.get(has_slots=True, source=None)
    assert (before.state, after.state) == (CampaignState.OPEN, CampaignState.CLOSED)
    assert imported.campaigns.get(source=after).judges == Judges.EXPERT

    def given(campaign: Campaign) -> list[Any]:
        assignments = Assignment.objects.filter(questionnaire__campaign=campaign).order_by("id")
        return list(assignments.values_list("state", "external_id", "slot__rank", "comment", "pay", "active_seconds"))

    assert [state for state, *_rest in given(after)] == AssignmentState.values
    assert given(after) == given(before)
    assert (after.slots.count(), after.slots.open().count()) == (6, 3)
    # What triggers hold afterwards holds for what came in too.
    surplus = Judgment.objects.filter(assignment__questionnaire__campaign=after, assignment__state="SURPLUS").first()
    with pytest.raises(IntegrityError, match="never_changed_once_submitted"):
        Judgment.objects.filter(pk=surplus.pk).update(value=1)


@pytest.mark.parametrize("version", [*(pytest.param(each, marks=pytest.mark.extended) for each in OLDER), BEFORE])
def test_an_archive_of_an_earlier_version_is_an_equal_study(version: int) -> None:
    old = Path(django_settings.BASE_DIR) / "tests" / "data" / "archives" / f"version-{version}.zip"
    study = StudyFactory()
    run = import_archive(study, old)
    assert run.state == RunState.DONE, (run.problems, run.error)
    with zipfile.ZipFile(old) as zipped:
        declared = {Path(each["path"]).name: each for each in json.loads(zipped.read("manifest.json"))["files"]}
    held = writer.content(study, version=version)
    names = {table: schema_versions.table_name(version, table) for table in held}
    assert held == {table: declared[f"{names[table]}.jsonl.gz"]["content_sha256"] for table in held}
    assert len(held) == len(declared) == len(of_version(version))
    assert WritingPlan.objects.filter(study=study).exists() == (version > 1)
    assert study.campaigns.filter(has_slots=True).exists() == (version > 2)
    # Nobody holds a task for ever whose lease was not kept.
    task = study.writing_tasks.filter(state=TaskState.CLAIMED).earliest("pk")
    assert task.lease_until is not None
    # Again: nothing changes. With more in the study: refused.
    held_already = import_archive(study, old).summary["held_already"]
    assert held_already["judgments"] == declared["judgments.jsonl.gz"]["rows"] > 0
    JudgingPrompt.objects.create(study=study, name="another", text="Judge.", created_at=NOW)
    refused = import_archive(study, old)
    assert refused.state == RunState.FAILED
    assert "judging_prompts" in refused.problems[0]["message"]
    assert import_archive(StudyFactory(), Path(export(study).file.path)).state == RunState.DONE


def test_every_table_and_field_is_there_or_left_out_with_a_reason() -> None:
    tables = {table.model: {column.name for column in table.columns} for table in ALL}
    models = {model for label in OUR_APPS for model in apps.get_app_config(label).get_models()}
    missing = [model._meta.label for model in models - {*tables} if not exclusions.MODELS.get(model._meta.label)]
    for model in models & {*tables}:
        for field in model._meta.concrete_fields:
            label = f"{model._meta.label}.{field.name}"
            is_known = field.primary_key or field.related_model is Study or field.name in tables[model]
            missing += [] if is_known or exclusions.FIELDS.get(label) else [label]
    assert missing == []
    known = {model._meta.label for model in models}
    assert set(exclusions.MODELS) <= known
    assert {label.rsplit(".", 1)[0] for label in exclusions.FIELDS} <= known
    assert exclusions.MODELS.keys().isdisjoint(model._meta.label for model in tables)
    columns = {(table.name, column.name) for table in ALL for column in table.columns}
    assert set(schema_versions.COLUMNS) <= columns
    assert set(schema_versions.TABLES) <= {table.name for table in ALL}
    assert {of for of, _default in schema_versions.COLUMNS.values()} | set(schema_versions.TABLES.values()) <= set(
        schema_versions.READABLE
    )


def test_tables_stand_before_those_that_refer_to_them_and_have_rows_of_each_relation() -> None:
    seen: set[str] = set()
    for table in TABLES:
        seen.add(table.name)  # to its own earlier rows, a table may refer
        assert {column.references for column in table.columns if column.references} <= seen, table.name
        for field in table.model._meta.many_to_many:
            assert field.remote_field.through in {each.model for each in TABLES}


def test_every_field_has_a_meaning_and_the_docs_are_current() -> None:
    for table in ALL:
        assert all(field_docs.meaning_of(table.name, column.name) for column in table.columns)
        names = {column.name for column in table.columns}
        assert set(field_docs.TABLES[table.name][1]) <= names, f"{table.name}: meanings of fields that are not there"
    assert set(field_docs.TABLES) == {table.name for table in ALL}
    assert STUDY in ALL
    page = Path(django_settings.BASE_DIR) / "docs" / "reference" / "archive.md"
    assert page.read_text() == field_docs.as_markdown(), "python manage.py export --schema > docs/reference/archive.md"
