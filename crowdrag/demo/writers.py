"""Writing in the demo: an open plan, and simulated writers whose responses can be reviewed.

They write trial responses in a separate style, so that these are not mixed with the corpus that the crowd judges or
with the responses of the local model.
"""

import json
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from django.urls import reverse

from crowdrag.studies.entry import enrolment, links
from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import EntryLink, Participant, Study, User
from crowdrag.studies.participants import consents
from writing.assignments import claims, steps, submission
from writing.enums import TaskState
from writing.models import Survey, WritingPlan, WritingTask
from writing.plans import services as plans_services
from writing.review import services as review_services

from . import texts, typist

PURPOSE: Final = "writing"
LABEL: Final = "Demo link"
# Half the usual length, so that visitors can try it in a quarter of an hour. Money in US cents.
TERMS: Final = {"slots": 2, "pay": 350, "wage_floor": 1200, "minutes": 15, "lease_hours": 24}
SEED: Final = 25


def ensure(*, study: Study, user: User, now: datetime) -> EntryLink:
    """Open the plan, create the link, and let the simulated writers write. Existing objects stay unchanged."""
    script = json.loads((texts.FOLDER / "writers.json").read_text())
    plan = plans_services.get_plan(study) or _plan(study, script, now)
    link = open_link(study) or links.create_open(study=study, purpose=PURPOSE, label=LABEL, by=user, now=now)
    if plan.is_open:
        began = now - timedelta(hours=3)
        for number, each in enumerate(script["scripts"]):
            _write(link, each, user, Random(SEED + number), began + timedelta(minutes=20 * number))
    return link


def open_link(study: Study) -> EntryLink | None:
    """Return the open link for writing; None if it was closed."""
    link = EntryLink.objects.filter(study=study, purpose=PURPOSE, kind=EntryKind.OPEN, closed_at__isnull=True)
    return link.order_by("pk").first()


def address(link: EntryLink) -> str:
    """Return the link's URL without the host."""
    return reverse("join", args=[link.token])


def _plan(study: Study, script: dict[str, Any], now: datetime) -> WritingPlan:
    plan = plans_services.ensure_plan(study, now)
    plans_services.add_style(plan=plan, now=now, **script["style"])
    plan = plans_services.change_terms(
        plan=plan,
        terms=TERMS,
        style_names=[script["style"]["name"]],
        trial_topics=script["trial_topics"],
        now=now,
    )
    return plans_services.open_plan(plan=plan, now=now)


def _write(link: EntryLink, script: dict[str, Any], user: User, rng: Random, now: datetime) -> None:
    """Let a simulated writer write a response, unless it exists."""
    writer = _writer(link, script["writer"], now)
    if _is_written(writer, script["topic"]):
        return
    task = claims.claim(study=link.study, participant=writer, now=now)
    plan = WritingPlan.objects.select_related("entry_survey", "exit_survey").get(study=link.study)
    if task.finished_at is None:
        steps.answer_entry(task=task, answers=_answers(plan.entry_survey, rng), now=now)
        done = typist.write(
            task=task,
            text=script["text"],
            manner=script["manner"],
            pasted=script.get("pasted", ""),
            rng=rng,
            now=now + timedelta(minutes=1),
        )
    else:
        done = task.finished_at
    submission.submit(task=task, answers=_answers(plan.exit_survey, rng), now=done + timedelta(seconds=30))
    if script["accepted"]:
        note = "Clear, and every claim has its passage."
        review_services.accept(task=task, by=user, now=done + timedelta(minutes=5), note=note)


def _writer(link: EntryLink, name: str, now: datetime) -> Participant:
    """Return the simulated writer with this name, who entered by the link and consented."""
    writer = enrolment.enrol(link=link, signed_visit=enrolment.sign_visit(name), now=now)
    if not writer.is_simulated:
        Participant.objects.filter(pk=writer.pk).update(is_simulated=True)
    plan = WritingPlan.objects.select_related("consent_text").get(study=link.study_id)
    if plan.consent_text is not None and not consents.is_given(participant=writer, text=plan.consent_text):
        consents.give(participant=writer, text=plan.consent_text, releases_log=True, releases_timing=True, now=now)
    return writer


def _is_written(writer: Participant, topic: str) -> bool:
    tasks = WritingTask.objects.filter(participant=writer, topic__external_id=topic)
    return tasks.exclude(state=TaskState.CLAIMED).exists()


def _answers(survey: Survey | None, rng: Random) -> dict[str, Any]:
    """Answer each question with a random option."""
    questions = survey.questions if survey else []
    return {each["name"]: rng.choice(each["options"])["value"] for each in questions if each["options"]}
