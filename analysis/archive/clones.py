"""Cloning of a study: its settings, texts, topics and passages, with plans and campaigns as drafts.

Members, participants and links are not copied; imported responses of systems and models are, on request. The new study
exists immediately; a run fills it in one transaction.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Any, Final

from django.db import transaction
from django.db.models import ForeignKey, Model, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.campaign_types.registry import ASKING_AGAIN
from annotation.enums import CampaignState, Judges
from annotation.models import Campaign, CampaignDimension, CampaignGoal, Dimension, Instructions, JudgingPrompt
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import ConsentText, Participant, Study, User
from crowdrag.studies.study import services as study_services
from writing.models import (
    Citation,
    Passage,
    PlanStyle,
    PlanTrialTopic,
    Response,
    ResponseDecision,
    RetrievedPassage,
    Statement,
    Style,
    Survey,
    Topic,
    WritingInstructions,
    WritingPlan,
    WritingPrompt,
)

KIND: Final = "study.clone"
BATCH: Final = 2_000
#: Attributes of the study itself that are cloned.
SETTINGS: Final = (
    "description", "language", "text_licence", "currency", "llm_budget", "researchers", "contact", "payment",
    "retention",
)  # fmt: skip
#: Versioned texts; all versions are cloned, because plans and campaigns may refer to earlier ones.
TEXTS: Final[tuple[type[Model], ...]] = (
    ConsentText, Style, WritingInstructions, Survey, WritingPrompt, Instructions, Dimension, JudgingPrompt,
)  # fmt: skip
AUTOMATIC: Final = (ParticipantKind.SYSTEM, ParticipantKind.MODEL)


@transaction.atomic
def start(*, source: Study, slug: str, title: str, with_responses: bool, by: User, now: datetime | None = None) -> Run:
    """Create the new study, owned by the user, and start the run that fills it.

    Raises
    ------
    ValidationError
        If the short name is taken or invalid in URLs.
    """
    settings = {name: getattr(source, name) for name in SETTINGS}
    # Keep sample data marked as such.
    settings["is_simulated"] = source.is_simulated and with_responses
    study = study_services.create(slug=slug, title=title, by=by, now=now, **settings)
    parameters = {"source": source.pk, "with_responses": with_responses}
    return lifecycle.start(study=study, kind=KIND, parameters=parameters, by=by, now=now)


def work(unit: kinds.Work) -> kinds.Effect:
    """Check that the source study still exists; the effect copies it."""
    source = Study.objects.filter(pk=unit.run.parameters["source"], deletion_requested_at__isnull=True).first()
    if source is None:
        raise kinds.InputRejectedError([{"message": "The study to be cloned has been deleted."}], is_final=True)

    def effect() -> None:
        counts = copy_rows(
            source, unit.run.study, with_responses=unit.run.parameters["with_responses"], now=timezone.now()
        )
        lifecycle.note(run=unit.run, summary={name: count for name, count in counts.items() if count})

    return effect


@transaction.atomic
def copy_rows(source: Study, target: Study, *, with_responses: bool, now: datetime) -> dict[str, int]:
    """Copy the cloned contents into an empty study; return the number of rows of each kind."""
    copier = _Copier(target)
    texts = sum(copier.copy(model._base_manager.filter(study=source)) for model in TEXTS)
    topics = Topic.objects.filter(study=source).current()
    counts = {"texts": texts, "passages": copier.copy(Passage.objects.filter(study=source))}
    counts["topics"] = copier.copy(topics)
    copier.copy(RetrievedPassage.objects.filter(topic__in=topics))
    counts["writing_plans"] = copier.copy(WritingPlan.objects.filter(study=source), is_open=False, updated_at=now)
    copier.copy(PlanStyle.objects.filter(plan__study=source))
    copier.copy(PlanTrialTopic.objects.filter(plan__study=source, topic__in=topics))
    counts["campaigns"] = _copy_campaigns(source, copier, now)
    if with_responses:
        counts["responses"] = _copy_responses(source, topics, copier)
    return counts


def _copy_campaigns(source: Study, copier: "_Copier", now: datetime) -> int:
    """Copy campaigns of people as drafts; expert campaigns come after those whose items they judge."""
    draft = {
        "state": CampaignState.DRAFT, "has_slots": False, "is_simulated": False, "opened_at": None, "closed_at": None,
        "created_at": now,
    }  # fmt: skip
    campaigns = Campaign.objects.filter(study=source).current().exclude(judges=Judges.MODEL)
    of_experts = Q(kind__in=ASKING_AGAIN)
    count = copier.copy(campaigns.exclude(of_experts), source_id=None, **draft)
    for campaign in campaigns.filter(of_experts, source__in=copier.keys[Campaign]):
        # Selected items belong to the source and are not copied.
        design = {name: value for name, value in campaign.design.items() if name != "items"}
        origin = copier.keys[Campaign][campaign.source_id] if campaign.source_id else None
        count += copier.copy(campaigns.filter(pk=campaign.pk), source_id=origin, design=design, **draft)
    copier.copy(CampaignDimension.objects.filter(campaign__in=copier.keys[Campaign]))
    copier.copy(CampaignGoal.objects.filter(campaign__in=copier.keys[Campaign]))
    return count


def _copy_responses(source: Study, topics: QuerySet[Topic], copier: "_Copier") -> int:
    """Copy imported responses of systems and models; people's texts are not copied."""
    responses = Response.objects.filter(
        study=source, topic__in=topics, participant__kind__in=AUTOMATIC, task__isnull=True, erased_at__isnull=True,
        model_answers__isnull=True,
    )  # fmt: skip
    copier.copy(Participant.objects.filter(study=source, pk__in=responses.values("participant")))
    count = copier.copy(responses)
    copier.copy(ResponseDecision.objects.filter(response__in=responses))
    copier.copy(Statement.objects.filter(response__in=responses))
    copier.copy(Citation.objects.filter(statement__response__in=responses))
    return count


class _Copier:
    """Copies rows into another study, with foreign keys to the copies."""

    def __init__(self, target: Study):
        self.target = target
        #: Keys of the copies by the keys of the originals, for each model.
        self.keys: dict[type[Model], dict[int, int]] = {}

    def copy(self, rows: "QuerySet[Any]", **changes: Any) -> int:
        """Copy rows with changed field values; return their number."""
        copied = self.keys.setdefault(rows.model, {})
        before = len(copied)
        iterator = rows.order_by("pk").iterator(chunk_size=BATCH)
        while batch := list(islice(iterator, BATCH)):
            copies = rows.model._base_manager.bulk_create([self._copy(row, changes) for row in batch])
            copied.update(zip((row.pk for row in batch), (copy.pk for copy in copies), strict=True))
        return len(copied) - before

    def _copy(self, row: Model, changes: dict[str, Any]) -> Model:
        fields: Iterable[Any] = (field for field in row._meta.concrete_fields if not field.primary_key)
        return type(row)(**{field.attname: self._value(row, field) for field in fields} | changes)

    def _value(self, row: Model, field: Any) -> Any:
        value = getattr(row, field.attname)
        if not isinstance(field, ForeignKey) or value is None:
            return value
        if field.related_model is Study:
            return self.target.pk
        keys = self.keys.get(field.related_model)
        return value if keys is None else keys.get(value)


def describe(run: Run) -> dict[str, Any]:
    """Describe the parameters of a run in words."""
    source = Study.objects.filter(pk=run.parameters["source"]).first()
    return {
        "Cloned study": source.title if source else "deleted",
        "With imported responses": "yes" if run.parameters["with_responses"] else "no",
    }


def register() -> None:
    """Register the run kind when the app is ready."""
    kinds.register(
        kinds.Kind(
            name=KIND,
            title="Clone of a study",
            work=work,
            result_url=lambda run: reverse("study", args=[run.study.slug]),
            describe=describe,
        )
    )
