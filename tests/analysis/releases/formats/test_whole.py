"""A release of a whole study, from its database to its files and back into a fresh study."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.analyses import services as analyses_services
from analysis.enums import PersonalVerdict
from analysis.inputs import snapshots
from analysis.models import PersonalDataFinding
from analysis.releases.choices import Choices, Logs, Passages, Pseudonyms, Timing
from analysis.releases.contents import release_contents
from analysis.releases.formats import release_writer
from analysis.releases.formats.tabular import as_json
from analysis.releases.personal_data import detection
from analysis.releases.personal_data import services as personal_data_services
from annotation.imports.crowdrag25 import record_schemas
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.models import Study
from tests.analysis.archive.test_published_layout import DATA, counted, import_folder, part
from tests.analysis.releases.formats.made import ABOUT, cells_of, lines
from tests.analysis.releases.formats.test_cells import begins_a_formula
from tests.analysis.whole_study import whole_study
from tests.factories import NOW, StudyFactory
from writing.corpus.imports import sources

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files", "one_transaction")]
ALL = Choices(
    passages=Passages.TEXTS, passage_terms="as they are", logs=Logs.FULL, comments=True, tables=True, excluded=True,
    timing=Timing.EXACT, pseudonyms=Pseudonyms.STABLE,
)  # fmt: skip


def released(study: Study, folder: Path, choices: Choices = ALL) -> tuple[dict[str, Any], dict[str, list[dict]]]:
    """Write a release of a study; return its manifest and the rows that it should hold."""
    folder.mkdir()
    with snapshots.repeatable_read():
        contents = release_contents.read_contents(study=study, choices=choices, release="1")
        manifest = release_writer.write_files(
            folder, contents.tables, replace(ABOUT, version=1), layout=contents.layout,
            left_out=contents.layout_left_out,
        )  # fmt: skip
        rows = {table.name: list(table.rows()) for table in contents.tables}
    return manifest, rows


def analysed(study: Study) -> Choices:
    run = lifecycle.wait(analyses_services.start(study=study, parameters={"resamples": 2, "restarts": 1}))
    assert run.state == RunState.DONE, run.error
    return replace(ALL, runs=(str(run.key),))


def kept(study: Study, choices: Choices) -> None:
    """Look for personal data, and decide to release all of it: else what it stands in is left out."""
    detection.look(study=study, choices=choices, now=NOW)()
    found = PersonalDataFinding.objects.filter(study=study).values_list("pk", flat=True)
    personal_data_services.decide(
        study=study, findings=list(found), verdict=PersonalVerdict.KEEP, reason="It is public.", now=NOW
    )


def labels_in(layout: Path) -> int:
    """Return how many labels the files of judging hold, each judgment once."""
    named = {*record_schemas.RAW_NAMES, *record_schemas.NAMES}
    found = 0
    for name in ("raw/study2_responses", "raw/study2_pointwise", "artifacts/llm_ratings"):
        if (path := layout / f"{name}.jsonl.gz").exists():
            found += sum(row.get(key) is not None for row in lines(path) for key in named)
    if (path := layout / "raw/expert-response.jsonl.gz").exists():
        columns = next(iter(lines(path)))
        found += sum(value is not None for key in record_schemas.RAW_NAMES for value in columns[key].values())
    return found


@pytest.mark.extended
def test_every_table_of_a_study_full_of_hostile_texts_is_written(tmp_path):
    study = whole_study()
    manifest, rows = released(study, tmp_path / "r", analysed(study))
    assert {"topics", "passages", "responses", "log_events", "judgments", "gold", "grades", "runs"} <= set(rows)
    # Every judgment is in the layout, or counted as left out there.
    reasons = {each["what"]: each["count"] for each in manifest["layout_left_out"]}
    left_out = sum(count for what, count in reasons.items() if "judgments" in what)
    assert left_out + labels_in(tmp_path / "r/crowdrag25") == len(rows["judgments"])
    for table in manifest["tables"]:
        name = table["name"]
        assert table["rows"] == len(rows[name])
        assert [as_json(row) for row in lines(tmp_path / f"r/jsonl/{name}.jsonl.gz")] == [
            as_json(r) for r in rows[name]
        ]
        texts = [field["name"] for field in table["fields"] if field["type"] not in {"integer", "number", "boolean"}]
        cells = cells_of(tmp_path / f"r/csv/{name}.csv")
        assert len(cells) == len(rows[name])
        assert not [(name, field) for row in cells for field in texts if begins_a_formula(row[field])]


@pytest.mark.timeout(600)
@pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the CrowdRAG-25 sample is not here")
@pytest.mark.parametrize(
    "topics", [pytest.param(4, marks=pytest.mark.extended), pytest.param(None, marks=pytest.mark.soak)]
)
def test_a_released_sample_imports_into_a_fresh_study_as_the_original(topics, tmp_path):
    given = part(tmp_path / "part", topics) if topics else Path(DATA) / "crowdrag25"
    study = StudyFactory()
    import_folder(study, list(sources.of_folder(given)))
    choices = analysed(study)
    kept(study, choices)
    manifest, rows = released(study, tmp_path / "r", choices)
    files = {str(path.relative_to(given)) for path in given.rglob("*.jsonl.gz")}
    written = {str(path.relative_to(tmp_path / "r/crowdrag25")) for path in (tmp_path / "r/crowdrag25").rglob("*.gz")}
    # The platform's records name visits of people there, and are never released; the sample has no parsed responses.
    assert written == files - {"raw/study2_demographic.jsonl.gz"} | {"artifacts/responses.jsonl.gz"}
    again = StudyFactory()
    import_folder(again, list(sources.of_folder(tmp_path / "r/crowdrag25")))
    reanalysed = analysed(again)
    kept(again, reanalysed)
    _manifest, found = released(again, tmp_path / "again", reanalysed)
    for name in ("topics", "retrieved", "passages", "styles", "responses", "statements", "citations", "log_states",
                 "log_events", "judgments", "gold", "grades", "survey_answers"):  # fmt: skip
        if name in rows:
            assert counted(_plain(found[name])) == counted(_plain(rows[name])), name
    assert sum(table["rows"] for table in manifest["tables"]) > 1000


def _plain(rows: list[dict]) -> list[dict]:
    """Return rows as they compare: times as texts."""
    return [{key: value if isinstance(value, int | float | str | list | dict | None) else str(value)
             for key, value in row.items()} for row in rows]  # fmt: skip
