"""What the addresses of endpoints name, in a study that has rows of everything (`rows.ROWS`)."""

from typing import Any
from uuid import UUID

from django.db.models import Model, QuerySet

from analysis.experiments.experiment import EXPERIMENTS
from analysis.models import ReleaseFile, ReleaseLink, ResultTable
from annotation.models import Assignment, Campaign, JudgingAnswer, TrainingItem
from crowdrag.jobs.models import Artifact, Run
from crowdrag.studies.models import Membership, Participant, StaffNote, Study
from crowdrag.webhooks.models import Delivery
from tests.annotation import open_campaign
from tests.annotation.quality.screened import handed_in
from tests.api.rows import ROWS
from tests.factories import StudyFactory
from writing.corpus.imports import importers
from writing.enums import Origin
from writing.models import ModelAnswer, PlanStyle, Response, RetrievedPassage, WritingTask


def furnished(count: int = 1) -> Study:
    """Make a study that has rows of everything, and a questionnaire that waits for a decision."""
    study: Study = StudyFactory(slug="mine")
    for make in ROWS.values():
        make(study, count)
    handed_in(open_campaign.world(study=study, topics=1))
    return study


def names(path: str, study: Study) -> dict[str, Any]:
    """What stands in an address of this form, by its parameters: a row of the study."""
    start, found = "/api/v1/studies/{study}", {"study": study.slug}
    for form, name in _OF.items():
        if path.startswith(start + form):
            return found | name(study)
    return found


def _last(rows: "QuerySet[Any]", **names: str) -> dict[str, Any]:
    """A row's columns, under the names that they have in addresses."""
    row = rows.order_by("-pk").values(*names.values()).first()
    if row is None:  # it was deleted by the request before
        return {}
    values = {name: row[column] for name, column in names.items()}
    return {name: str(value) if isinstance(value, UUID) else value for name, value in values.items()}


def _of(model: type[Model], study: str = "study", **names: str) -> Any:
    return lambda there: _last(model._default_manager.filter(**{study: there}), **names)


# The first that an address begins with holds.
_OF: dict[str, Any] = {
    "/notes/": _of(StaffNote, "participant__study", note="pk"),
    "/members/": _of(Membership, user="user_id"),
    "/runs/{key}/artifacts/": _of(Artifact, "run__study", key="run__key", name="name"),
    "/runs/": _of(Run, key="key"),
    "/topics/{external_id}/passages/": _of(RetrievedPassage, "topic__study", external_id="topic__external_id"),
    "/topics/": _of(RetrievedPassage, "topic__study", external_id="topic__external_id"),
    "/responses/": _of(Response, external_id="external_id"),
    "/review/": _of(WritingTask, task="external_id"),
    "/writing/writers/": _of(Participant, participant="external_id"),
    "/writing/models/": _of(ModelAnswer, "run__study", key="run__key"),
    "/writing/plan/styles/": _of(PlanStyle, "plan__study", name="style__name"),
    "/writing/plan/questions/": lambda _study: {"kind": "entry"},
    "/campaigns/{campaign}/known": _of(TrainingItem, "campaign__study", campaign="campaign_id", item="item_id"),
    "/campaigns/{campaign}/a": lambda study: _last(
        Assignment.objects.filter(questionnaire__campaign__study=study, questionnaire__campaign__has_slots=True),
        campaign="questionnaire__campaign_id",
        assignment="external_id",
    ),
    "/campaigns/{campaign}/": lambda study: _last(
        Campaign.objects.filter(study=study, training__isnull=False), campaign="pk"
    ),
    "/placements/": lambda study: _last(
        Response.objects.filter(study=study).exclude(origin=Origin.HUMAN), system="participant_id"
    ),
    "/judges/": _of(JudgingAnswer, "run__study", key="run__key"),
    "/results/": _of(ResultTable, "run__study", key="run__key", name="name"),
    "/releases/{number}/files/": _of(ReleaseFile, "release__study", number="release__number", path="path"),
    "/releases/{number}/links/": _of(ReleaseLink, "release__study", number="release__number", link="pk"),
    "/releases/": _of(ReleaseFile, "release__study", number="release__number"),
    "/webhooks/": _of(Delivery, "webhook__study", key="webhook__key", delivery="pk"),
    "/experiments/": lambda _study: {"name": next(iter(EXPERIMENTS))},
    "/indexes/": lambda _study: {"key": "none"},  # the folder of indexes is empty
    "/imports/": lambda _study: {"name": importers.all_importers()[0].name},
}
