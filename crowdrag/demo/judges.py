"""Judging in the demo: an open campaign, and simulated judges whose work can be screened.

They use the same functions as the page: claim, answer, report viewing times, submit. Their questionnaires await a
reviewer's decision, so they do not change the figures of the simulated crowd.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
from django.db import transaction

from annotation.campaigns import design, launch, services
from annotation.enums import CampaignState
from annotation.judging import answers, claims, leases, submission
from annotation.llm_judges import judge_run, prompts
from annotation.llm_judges.run_orders import Order
from annotation.llm_judges.stimuli import ItemSelection
from annotation.models import Assignment, AttentionCheck, Campaign, Item
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.llm import endpoints
from crowdrag.studies.entry import enrolment, links
from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import EntryLink, Participant, Study, User
from crowdrag.studies.participants import consents

from . import crowd, simulated_judgments, texts

NAME: Final = "Try it: compare answers"
LABEL: Final = "Demo link"
# Few, short questionnaires of ten minutes. Money in US cents. There is no limit per person.
TERMS: Final[dict[str, Any]] = {
    "k": 3, "pay": 250, "fee": 0, "tax": 0, "wage_floor": 1200, "minutes": 10, "lease_minutes": 60,
    "questionnaires_per_person": None, "minimum_seconds": 120, "eligibility": {},
}  # fmt: skip
DESIGN: Final = design.Design(pairs_per_topic=2, items_per_questionnaire=3, seed=25, checks=1)
SEED: Final = 25


@dataclass(frozen=True)
class JudgingStyle:
    """A manner of judging: spam probability, spam strategy, seconds per item, and whether checks are read."""

    spam: float
    strategy: tuple[float, float, float]
    seconds: float
    reads_checks: bool = True


JUDGING_STYLES: Final[Mapping[str, JudgingStyle]] = {
    "careful": JudgingStyle(0.05, (0.4, 0.2, 0.4), 130),
    "hasty": JudgingStyle(0.9, (0.4, 0.2, 0.4), 12),
    "one-sided": JudgingStyle(1.0, (1.0, 0.0, 0.0), 70, reads_checks=False),
}


def ensure(*, study: Study, user: User, now: datetime) -> EntryLink | None:
    """Open the campaign, create the link, and let the simulated judges judge. Existing objects stay unchanged.

    Returns
    -------
    EntryLink or None
        None if the link was closed.
    """
    began = now - timedelta(hours=4)
    campaign = campaign_of(study) or services.create_draft(
        study=study, name=NAME, terms=TERMS, design=DESIGN, now=began
    )
    if campaign.state == CampaignState.DRAFT:
        campaign = launch.open_campaign(campaign=campaign, now=began)
    purpose = claims.purpose(campaign)
    if not EntryLink.objects.filter(study=study, purpose=purpose).exists():
        links.create_open(study=study, purpose=purpose, label=LABEL, by=user, now=began)
    link = open_link(study)
    if link is not None and campaign.state == CampaignState.OPEN:
        for number, script in enumerate(json.loads((texts.FOLDER / "judges.json").read_text())["scripts"]):
            judge(link, campaign, script, SEED + number, began + timedelta(minutes=20 * number))
    return link


def ask_the_model(*, study: Study, user: User, now: datetime) -> Run | None:
    """Let the local model judge the campaign's items in both orders, once; None if it was started before."""
    campaign = campaign_of(study)
    if campaign is None or study.runs.filter(kind=judge_run.KIND).exists():
        return None
    endpoint = endpoints.ensure_local()
    prompt = prompts.ensure(study=study, text=prompts.latest_text(study), now=now)
    order = Order(
        endpoint=endpoint.pk, prompt=prompt.pk, source=campaign.pk, which=ItemSelection.BOTH_ORDERS, seed=SEED
    )
    with transaction.atomic():
        run = judge_run.start(study=study, order=order, by=user)
        lifecycle.move_to_background(run)
    return run


def campaign_of(study: Study) -> Campaign | None:
    """Return the campaign that is open to visitors; None if there is none."""
    return Campaign.objects.filter(study=study, name=NAME).select_related("study", "consent_text").first()


def open_link(study: Study) -> EntryLink | None:
    """Return the open link for judging; None if it was closed."""
    campaign = campaign_of(study)
    if campaign is None:
        return None
    link = EntryLink.objects.filter(
        study=study, purpose=claims.purpose(campaign), kind=EntryKind.OPEN, closed_at__isnull=True
    )
    return link.order_by("pk").first()


@transaction.atomic
def judge(link: EntryLink, campaign: Campaign, script: Mapping[str, Any], seed: int, now: datetime) -> None:
    """Let a simulated judge answer a questionnaire in one transaction, unless it exists."""
    person = _person(link, campaign, script["judge"], now)
    if Assignment.objects.filter(participant=person).exists():
        return
    manner, rng = JUDGING_STYLES[script["manner"]], np.random.default_rng(seed)
    assignment = claims.claim(campaign=campaign, participant=person, now=now)
    ends = _answer(assignment, manner, rng, now, share=script.get("share", 1.0))
    if script.get("share", 1.0) < 1:
        leases.give_back(assignment=assignment, reason=script["comment"], now=ends)
    else:
        submission.submit(assignment=assignment, comment=script["comment"], now=ends + timedelta(seconds=5))


def _person(link: EntryLink, campaign: Campaign, name: str, now: datetime) -> Participant:
    """Return the simulated judge with this name, who entered by the link and consented."""
    person = enrolment.enrol(link=link, signed_visit=enrolment.sign_visit(name), now=now)
    if not person.is_simulated:
        Participant.objects.filter(pk=person.pk).update(is_simulated=True)
    text = campaign.consent_text
    if text is not None and not consents.is_given(participant=person, text=text):
        consents.give(participant=person, text=text, releases_timing=True, now=now)
    return person


def _answer(
    assignment: Assignment, manner: JudgingStyle, rng: np.random.Generator, now: datetime, *, share: float
) -> datetime:
    """Answer a questionnaire, or its first part, item by item; return the time of the end."""
    entries = list(
        assignment.questionnaire.entries.select_related("item__pair__a", "item__pair__b").order_by("position")
    )
    entries = entries[: max(1, round(share * len(entries)))]
    values = _values(assignment.questionnaire.campaign, [entry.item for entry in entries], manner, rng)
    checks = {check.position: check for check in AttentionCheck.objects.filter(questionnaire=assignment.questionnaire)}
    times = []
    for entry in entries:
        seconds = float(manner.seconds * rng.lognormal(0, 0.2))
        now += timedelta(seconds=seconds)
        for dimension, value in values[entry.item_id].items():
            answers.answer(
                assignment=assignment, item=entry.item_id, dimension=dimension, value=value, revision=1, now=now
            )
        if (check := checks.get(entry.position)) is not None:
            answers.answer_check(
                assignment=assignment, check=check.pk, value=_checked(check, manner), revision=1, now=now
            )
        times.append({"item": entry.item_id, "active": seconds, "away": 0, "looks": 1, "leaves": 0, "changes": 0})
    answers.record_times(assignment=assignment, visit="simulated", times=times, now=now)
    return now


def _checked(check: AttentionCheck, manner: JudgingStyle) -> int:
    """Answer an attention check: correctly, or wrongly if the judge does not read checks."""
    others = [option["value"] for option in check.options if option["value"] != check.expected]
    return check.expected if manner.reads_checks or not others else int(others[0])


def _values(
    campaign: Campaign, items: list[Item], manner: JudgingStyle, rng: np.random.Generator
) -> dict[int, dict[int, int]]:
    """Answer items like the simulated crowd, from the same expected merits; by item and dimension."""
    dimensions = {
        each.dimension.name: each.dimension for each in campaign.campaign_dimensions.select_related("dimension")
    }
    names = tuple(name for name in crowd.DIMENSIONS if name in dimensions)
    settings = crowd.CrowdSettings(dimensions=names, spread=simulated_judgments.CROWD_SETTINGS.spread)
    _topics, expected = simulated_judgments.responses(campaign.study)
    pairs = [item.pair for item in items if item.pair is not None]
    shown = [crowd.Pair(str(pair.a.topic_id), pair.a.external_id, pair.b.external_id) for pair in pairs]
    responses = sorted({name for pair in shown for name in (pair.left, pair.right)})
    merit = crowd.draw_merits(responses, expected=expected, settings=settings, rng=np.random.default_rng(SEED))
    person = crowd.Person("", (manner.spam,) * len(names), manner.strategy, lean=0.0, pace=1.0)
    values, _spammed = crowd.answer(person, shown, merit=merit, settings=settings, rng=rng)
    return {
        item.pk: {
            dimensions[name].pk: _option(dimensions[name].values, int(value))
            for name, value in zip(names, row, strict=True)
        }
        for item, row in zip(items, values, strict=True)
    }


def _option(options: list[int], value: int) -> int:
    """Return the option for a value: the left one if there is no neutral option."""
    return value if value in options else min(options)
