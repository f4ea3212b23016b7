"""Tables of an archive, in reading order: each row comes after all rows that it refers to.

The columns of a table follow from its model: every concrete field except those in `exclusions.py`. Rows are sorted as
they were stored (votes count in that order), and refer to each other by line number.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.db.models.expressions import Combinable

from annotation import models as annotation
from annotation.enums import CampaignState
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies import models as studies
from crowdrag.studies.models import Study
from writing import models as writing

from ..inputs.models import Snapshot
from ..tables.models import ResultTable
from . import columns, exclusions, schema_versions
from .columns import ArchiveColumn, Places

SCHEMA_VERSION = schema_versions.LATEST
FORMAT = "crowdrag-archive"
FOLDER = "data"
Converter = Callable[[Any], Any]


def _finished_analyses() -> Q:
    tables, snapshots = ResultTable.objects.filter(run=OuterRef("pk")), Snapshot.objects.filter(run=OuterRef("pk"))
    return Q(state=RunState.DONE) & (Q(Exists(tables)) | Q(Exists(snapshots)))


@dataclass(frozen=True)
class ArchiveTable:
    """A table: file name, model, and lookup from a row to its study."""

    name: str
    model: type[models.Model]
    path: str = "study"
    only: Callable[[], Q] = Q
    # Rows in memory at once; fewer if rows may be large.
    chunk: int = 1000
    # Expressions for columns whose archived value differs from the stored one.
    instead: Mapping[str, Combinable] = field(default_factory=dict)
    # Triggers, as `label:name`, that apply to changes one row at a time and not to an import. Their rules for the whole
    # are checked by `reader.check_integrity`.
    ignores: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Path in an archive of this version."""
        return self.file_in(SCHEMA_VERSION)

    def file_in(self, version: int) -> str:
        """Return the path in archives of a schema version."""
        return f"{FOLDER}/{schema_versions.table_name(version, self.name)}.jsonl.gz"

    def rows(self, study: Study) -> "models.QuerySet[Any]":
        """Return the study's rows in file order."""
        return self.model._default_manager.filter(self.only(), **{self.path: study.pk}).order_by("pk")

    @property
    def columns(self) -> tuple[ArchiveColumn, ...]:
        """Columns in the order of the model's fields."""
        return _columns(self.model)

    def columns_of(self, version: int) -> tuple[ArchiveColumn, ...]:
        """Return the columns in archives of a schema version, under their present names."""
        return schema_versions.in_order(version, self.name, self.columns)

    def names_in(self, version: int) -> list[str]:
        """Return the names of these columns in that version."""
        return [schema_versions.column_name(version, self.name, each.name) for each in self.columns_of(version)]

    def sources(self, version: int) -> "list[str | Combinable]":
        """Return the sources of the column values."""
        return [self.instead.get(column.name, column.source) for column in self.columns_of(version)]

    @property
    def own_references(self) -> tuple[str, ...]:
        """Columns that refer to earlier rows of this table."""
        return tuple(column.name for column in self.columns if column.references == self.name)


# Recruitment and payment were approved for one system only, so open campaigns are closed in an archive.
_CLOSED_ELSEWHERE = Case(
    When(has_slots=True, state=CampaignState.OPEN, then=Value(CampaignState.CLOSED.value)), default=F("state")
)

TABLES: tuple[ArchiveTable, ...] = (
    ArchiveTable("participants", studies.Participant),
    ArchiveTable("consent_texts", studies.ConsentText),
    ArchiveTable("consents", studies.Consent, "participant__study"),
    ArchiveTable("styles", writing.Style),
    ArchiveTable("topics", writing.Topic),
    ArchiveTable("passages", writing.Passage, chunk=200),
    ArchiveTable("retrieved", writing.RetrievedPassage, "topic__study"),
    ArchiveTable("surveys", writing.Survey),
    ArchiveTable("writing_instructions", writing.WritingInstructions),
    ArchiveTable("writing_prompts", writing.WritingPrompt),
    ArchiveTable("writing_plans", writing.WritingPlan),
    ArchiveTable("plan_styles", writing.PlanStyle, "plan__study"),
    ArchiveTable("plan_trial_topics", writing.PlanTrialTopic, "plan__study"),
    ArchiveTable("tasks", writing.WritingTask, chunk=200),
    ArchiveTable("task_transitions", writing.TaskTransition, "task__study"),
    ArchiveTable("task_payments", writing.TaskPayment, "task__study"),
    ArchiveTable("survey_answers", writing.SurveyAnswers, "task__study"),
    ArchiveTable("logs", writing.WritingLog, "task__study"),
    ArchiveTable("editing_sessions", writing.EditingSession, "log__task__study"),
    ArchiveTable("log_batches", writing.LogBatch, "log__task__study", chunk=50),
    ArchiveTable("responses", writing.Response, chunk=200),
    ArchiveTable("response_decisions", writing.ResponseDecision, "response__study"),
    ArchiveTable("statements", writing.Statement, "response__study"),
    ArchiveTable("citations", writing.Citation, "statement__response__study"),
    ArchiveTable("model_answers", writing.ModelAnswer, "participant__study", chunk=200),
    ArchiveTable("dimensions", annotation.Dimension),
    ArchiveTable("instructions", annotation.Instructions),
    ArchiveTable("campaigns", annotation.Campaign, instead={"state": _CLOSED_ELSEWHERE}),
    ArchiveTable("campaign_dimensions", annotation.CampaignDimension, "campaign__study"),
    ArchiveTable("campaign_goals", annotation.CampaignGoal, "campaign__study"),
    ArchiveTable("goal_looks", annotation.GoalLook, "campaign__study"),
    ArchiveTable("pairs", annotation.Pair),
    ArchiveTable("items", annotation.Item, "campaign__study"),
    ArchiveTable("questionnaires", annotation.Questionnaire, "campaign__study"),
    ArchiveTable("questionnaire_items", annotation.QuestionnaireItem, "questionnaire__campaign__study"),
    ArchiveTable(
        "assignments",
        annotation.Assignment,
        "questionnaire__campaign__study",
        ignores=("annotation.Assignment:holds_a_slot_or_not",),
    ),
    ArchiveTable("assignment_choices", annotation.AssignmentChoice, "assignment__questionnaire__campaign__study"),
    ArchiveTable(
        "assignment_transitions", annotation.AssignmentTransition, "assignment__questionnaire__campaign__study"
    ),
    ArchiveTable("assignment_decisions", annotation.AssignmentDecision, "assignment__questionnaire__campaign__study"),
    ArchiveTable("assignment_payments", annotation.AssignmentPayment, "assignment__questionnaire__campaign__study"),
    ArchiveTable(
        "judgments",
        annotation.Judgment,
        "assignment__questionnaire__campaign__study",
        # The judgments were given before submission, whatever the state of the questionnaire is now.
        ignores=(
            "annotation.Judgment:never_changed_once_submitted",
            "annotation.Judgment:never_added_once_submitted",
        ),
    ),
    ArchiveTable("item_confidences", annotation.ItemConfidence, "assignment__questionnaire__campaign__study"),
    ArchiveTable("slots", annotation.Slot, "campaign__study"),
    ArchiveTable("attention_checks", annotation.AttentionCheck, "questionnaire__campaign__study"),
    ArchiveTable("check_answers", annotation.CheckAnswer, "assignment__questionnaire__campaign__study"),
    ArchiveTable("known_labels", annotation.KnownLabel, "item__campaign__study"),
    ArchiveTable("training_items", annotation.TrainingItem, "campaign__study"),
    ArchiveTable("training_answers", annotation.TrainingAnswer, "training_item__campaign__study"),
    ArchiveTable("practice_answers", annotation.PracticeAnswer, "campaign__study"),
    ArchiveTable("item_times", annotation.ItemTime, "assignment__questionnaire__campaign__study"),
    ArchiveTable("judging_prompts", annotation.JudgingPrompt),
    ArchiveTable("judging_answers", annotation.JudgingAnswer, "item__campaign__study"),
    ArchiveTable("injection_trials", annotation.InjectionTrial, "pair__study"),
    ArchiveTable("platform_submissions", annotation.PlatformSubmission, "campaign__study"),
    ArchiveTable("runs", Run, only=_finished_analyses),
    ArchiveTable("result_tables", ResultTable, "run__study", lambda: Q(run__state=RunState.DONE), chunk=1),
    ArchiveTable("snapshots", Snapshot, "run__study", lambda: Q(run__state=RunState.DONE), chunk=1),
)
# The study itself: a single row, which updates the existing study.
STUDY = ArchiveTable("study", Study, "pk")
ALL = (STUDY, *TABLES)

_TABLE_OF = {table.model: table.name for table in TABLES}
# Columns whose values are only meaningful in one database, and their conversions.
_TRANSLATED = {
    ("participants", "platform_facts"): (columns.dump_facts, None),
    ("snapshots", "payload"): (columns.dump_payload, columns.load_payload),
    ("snapshots", "mark"): (columns.dump_mark, columns.load_mark),
}


@cache
def _columns(model: type[models.Model]) -> tuple[ArchiveColumn, ...]:
    kept = (field for field in model._meta.concrete_fields if _is_kept(model, field))
    return tuple(columns.of_field(field, _TABLE_OF) for field in kept)


def _is_kept(model: type[models.Model], field: "models.Field[Any, Any]") -> bool:
    # All rows belong to the archive's study, and line numbers replace primary keys.
    if field.primary_key or (isinstance(field, models.ForeignKey) and field.related_model is Study):
        return False
    return f"{model._meta.label}.{field.name}" not in exclusions.FIELDS


def of_version(version: int) -> tuple[ArchiveTable, ...]:
    """Return the tables in archives of a schema version, the study itself first."""
    return tuple(table for table in ALL if schema_versions.has_table(version, table.name))


def dumpers(table: ArchiveTable, study: Study, places: Places, version: int = SCHEMA_VERSION) -> list[Converter]:
    """Return the converters from database values to JSON, one for each column."""
    converters = []
    for column in table.columns_of(version):
        dump, _load = _TRANSLATED.get((table.name, column.name), (None, None))
        converters.append(dump(study, places) if dump else column.dumper(places))
    return converters


def loaders(table: ArchiveTable, study: Study, places: Places) -> list[Converter]:
    """Return the converters from checked values to database values, one for each column."""
    converters = []
    for column in table.columns:
        _dump, load = _TRANSLATED.get((table.name, column.name), (None, None))
        converters.append(load(study, places) if load else column.loader(places))
    return converters


def is_referred_to(name: str) -> bool:
    """Return whether other tables or snapshots refer to this table's rows by line."""
    return name in _referred()


@cache
def _referred() -> frozenset[str]:
    return frozenset(column.references for table in ALL for column in table.columns) | {"judgments"}
