"""Store the corpus's second study: judgments of crowd, experts and a model."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from annotation.campaign_types import default_dimensions
from annotation.enums import CampaignKind, Inference, Judges
from annotation.imports import external_answers
from annotation.imports.external_answers import Answer, Plan
from annotation.models import Assignment, AssignmentDecision, Campaign, Dimension, PlatformSubmission
from crowdrag.studies.enums import DecisionKind, ParticipantKind
from crowdrag.studies.models import Study
from writing.corpus.imports import bulk, json_lines
from writing.corpus.imports.problems import Problems

from . import judgments, record_schemas
from .corpus import Corpus

LEFT_OUT = "The published analysis takes annot1, annot2 and annot4 only."

_CAMPAIGNS: dict[str, dict[str, Any]] = {
    judgments.CROWD: {"kind": CampaignKind.PAIRWISE, "judges": Judges.CROWD, "k": 5},
    judgments.POINTWISE: {"kind": CampaignKind.POINTWISE, "judges": Judges.CROWD, "k": 5},
    judgments.EXPERTS: {"kind": CampaignKind.EXPERT, "judges": Judges.EXPERT, "k": 3},
    judgments.COMBINED: {
        "kind": CampaignKind.PAIRWISE,
        "judges": Judges.MODEL,
        "k": 1,
        "inference": Inference.COMBINED,
    },
    judgments.INDIVIDUAL: {
        "kind": CampaignKind.PAIRWISE,
        "judges": Judges.MODEL,
        "k": 1,
        "inference": Inference.INDIVIDUAL,
    },
}


def store(*, study: Study, corpus: Corpus, problems: Problems, now: datetime) -> dict[str, Any]:
    """Store the judgments; return the number of new rows by campaign."""
    counts: dict[str, Any] = {}
    campaigns: dict[str, Campaign] = {}
    for name, answers_of_study in sorted(
        corpus.answers.items(), key=lambda entry: (list(_CAMPAIGNS).index(_prefix(entry[0])), entry[0])
    ):
        settings = _CAMPAIGNS[_prefix(name)]
        if not answers_of_study:
            continue
        plan = Plan(name=name, dimensions=_dimensions(study, settings["kind"], answers_of_study, now), **settings)
        campaigns[name], counts[name] = external_answers.store(
            study=study, plan=plan, answers=answers_of_study, problems=problems, now=now
        )
    if judgments.EXPERTS in campaigns:
        counts["experts_left_out"] = _leave_out_experts(campaigns[judgments.EXPERTS], now)
    counts["platform_submissions"] = _store_facts(study, corpus.facts, problems, now)
    return counts


def _prefix(name: str) -> str:
    """Return the type of campaign from its name, which ends with the model's name for further models."""
    return name.split(" ", 1)[0]


def _dimensions(study: Study, kind: CampaignKind, answers: Sequence[Answer], now: datetime) -> list[Dimension]:
    if kind == CampaignKind.POINTWISE:
        return default_dimensions.ensure_pointwise(study=study, now=now)
    # People had to choose a side on overall quality, models did not. The answers show which question was asked.
    overall = default_dimensions.NAMES.index(default_dimensions.WITHOUT_NEITHER)
    return default_dimensions.ensure_pairwise(
        study=study, now=now, always_neither=any(a.values[overall] == 0 for a in answers)
    )


def _leave_out_experts(campaign: Campaign, now: datetime) -> int:
    """Exclude the experts whom the published analysis excluded, with the reason. Earlier decisions stay."""
    left_out = Assignment.objects.filter(questionnaire__campaign=campaign, decisions__isnull=True).exclude(
        participant__external_id__in=record_schemas.EXPERTS_ANALYSED
    )
    pks = list(left_out.order_by("id").values_list("id", flat=True))
    AssignmentDecision.objects.bulk_create(
        [
            AssignmentDecision(
                assignment_id=pk, about=DecisionKind.INCLUDE, holds=False, reason=LEFT_OUT, decided_at=now
            )
            for pk in pks
        ]
    )
    Assignment.objects.filter(pk__in=pks).update(is_included=False)
    return len(pks)


def _store_facts(study: Study, facts: Sequence[json_lines.Row], problems: Problems, now: datetime) -> int:
    """Store the platform's records of submissions, which name workers but not our assignments."""
    if not facts:
        return 0
    campaign = Campaign.objects.filter(study=study, name=judgments.CROWD).first()
    if campaign is None:
        expected = f"the votes of the crowd ({record_schemas.VOTES}) in this import or the study"
        problems.add(file=facts[0].file, expected=expected, message="the submissions belong to no campaign")
        problems.refuse_any()
        return 0
    people = bulk.ensure_participants(
        study=study,
        people=[(ParticipantKind.CROWD, row.data["worker"]) for row in facts if row.data["worker"]],
        now=now,
    )
    known = {row.external_id: row for row in campaign.platform_submissions.select_related("participant").order_by("id")}
    missing = []
    for row in facts:
        data = row.data
        person = people[ParticipantKind.CROWD, data["worker"]] if data["worker"] else None
        submission = PlatformSubmission(
            campaign=campaign,
            external_id=data["submission"],
            participant=person,
            seconds=data["time_taken"],
            approvals=data["approvals"],
        )
        stored = known.get(submission.external_id)
        if stored is None:
            missing.append(submission)
        elif _facts(stored) != _facts(submission):
            message = f"the study has something else of submission {submission.external_id}"
            problems.add(file=row.file, line=row.line, expected="the same as before", message=message)
    problems.refuse_any()
    return len(PlatformSubmission.objects.bulk_create(missing, batch_size=bulk.BATCH))


def _facts(row: PlatformSubmission) -> tuple[Any, ...]:
    return row.participant_id, row.seconds, row.approvals
