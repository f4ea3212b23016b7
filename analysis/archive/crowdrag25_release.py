"""A study in the published layout of CrowdRAG-25: raw files, artifacts, and their manifest."""

from collections.abc import Iterable
from typing import Any

from annotation.imports.crowdrag25 import record_schemas
from annotation.models import Judgment
from crowdrag.jobs.kinds import Work

from ..crowdrag25 import file_fields, inclusion, judgment_files, response_files
from ..crowdrag25.inclusion import ExclusionCounts
from ..crowdrag25.judgment_files import JudgingFiles
from .writer import Lines, Package

FORMAT = "crowdrag25"
SCHEMA_VERSION = 1
TICK = 200
NO_ROWS = "The study has no such data."
NO_ANALYSIS = "There is no finished analysis of the crowd's judgments. Analyse the study, then export it again."


def write(package: Package, work: Work) -> dict[str, Any]:
    """Write all files for which the study has data, and return the content of the manifest."""
    study = work.run.study
    left_out = ExclusionCounts()
    topics = inclusion.topics(study, left_out)
    responses = inclusion.responses(study, left_out)
    votes = JudgingFiles(study, responses, left_out)
    analysis = judgment_files.latest(study)
    writer = _Writer(package, work, total=3 * responses.count() + Judgment.objects.of_study(study).count() // 7)
    writer.file(record_schemas.TOPICS, response_files.topics(topics))
    writer.file(record_schemas.TASKS, response_files.tasks(responses, left_out))
    writer.file(record_schemas.SNAPSHOTS, response_files.snapshots(responses, left_out), steps=False)
    writer.file(record_schemas.MODEL_RESPONSES, response_files.model_responses(responses))
    writer.file(record_schemas.VOTES, votes.votes())
    writer.file(record_schemas.POINTWISE, votes.pointwise())
    writer.file(record_schemas.FACTS, votes.submissions(), steps=False)
    columns = judgment_files.as_columns(votes.experts())
    writer.file(record_schemas.EXPERTS, [columns] if columns else [])
    writer.file(record_schemas.COMBINED_VOTES, votes.combined())
    writer.file(record_schemas.INDIVIDUAL_VOTES, votes.individual())
    writer.file(record_schemas.MODEL_VOTES, votes.models())
    votes.count_others()
    if analysis is None:
        writer.omitted[file_fields.path(record_schemas.LABELS)] = NO_ANALYSIS
    else:
        released = set(responses.values_list("external_id", flat=True))
        writer.file(record_schemas.LABELS, judgment_files.rows(analysis, votes.questionnaires(), released), steps=False)
    writer.file(record_schemas.PARSED, response_files.parsed(responses))
    paths = [file.path for file in package.files]
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "analysis": analysis.as_json() if analysis else None,
        "omitted": writer.omitted,
        "left_out": left_out.as_json(),
        "fields": file_fields.of_files(paths),
    }


class _Writer:
    """Writes files that have rows, and reports progress."""

    def __init__(self, package: Package, work: Work, *, total: int) -> None:
        self._package, self._work, self._total = package, work, total
        self._done = 0
        self.omitted: dict[str, str] = {}

    def file(self, name: str, rows: Iterable[dict[str, Any]], *, steps: bool = True) -> None:
        """Write a file, unless it has no rows: a reader may take an empty file for a broken one."""
        path = file_fields.path(name)
        rest = iter(rows)
        first = next(rest, None)
        if first is None:
            self.omitted[path] = NO_ROWS
            return
        with self._package.lines(path) as lines:
            lines.write(first)
            for row in rest:
                lines.write(row)
                if lines.rows % TICK == 0:
                    self._tell(name, lines, steps=steps)
        self._done += lines.rows if steps else 0

    def _tell(self, name: str, lines: Lines, *, steps: bool) -> None:
        self._work.report(self._done + (lines.rows if steps else 0), self._total, name)
