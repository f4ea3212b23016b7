"""Create, change, open and close plans, and compute their costs.

A changed text is a new version; versions that people have read stay unchanged. Money is in minor units of the study's
currency.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from crowdrag.assignments.terms import set_terms
from crowdrag.studies import codes, money
from crowdrag.studies.activities import Readiness, undisclosed
from crowdrag.studies.models import ConsentText, Study
from crowdrag.webhooks import outbox

from ..assignments import slots
from ..corpus import versions
from ..corpus.imports import bulk
from ..enums import SurveyKind
from ..models import PlanStyle, PlanTrialTopic, Style, Survey, Topic, WritingInstructions, WritingPlan
from . import default_texts, surveys

# The name of the instructions and consent text for writers among the study's texts.
NAME: Final = "writing"
MOST_TRIAL_TOPICS: Final = 20
SURVEY_FIELDS: Final = {SurveyKind.ENTRY: "entry_survey", SurveyKind.EXIT: "exit_survey"}
CLOSE_FIRST: Final = "This plan is open and people are writing. Close it first."


class BadPlan(ValueError):  # noqa: N818 -- describes the plan
    """The change is invalid and was not made; `problems` maps a field to a message."""

    def __init__(self, problems: Mapping[str, str]):
        self.problems = dict(problems)
        super().__init__("; ".join(f"{field}: {problem}" for field, problem in problems.items()))


def get_plan(study: Study) -> WritingPlan | None:
    """Return a study's plan with its texts, or None."""
    texts_too = ("study", "instructions", "consent_text", "entry_survey", "exit_survey")
    return WritingPlan.objects.filter(study=study).select_related(*texts_too).first()


@transaction.atomic
def ensure_plan(study: Study, now: datetime) -> WritingPlan:
    """Return a study's plan; if it has none, create a closed one with the default styles, texts and questions."""
    if (plan := get_plan(study)) is not None:
        return plan
    bulk.lock_imports(study)  # concurrent requests get the same plan
    if (plan := get_plan(study)) is not None:
        return plan
    plan = WritingPlan.objects.create(
        study=study,
        instructions=_instructions(study, default_texts.instructions(study), now),
        consent_text=_consent(study, _default_consent(study), now),
        entry_survey=surveys.ensure(study=study, kind=SurveyKind.ENTRY, now=now),
        exit_survey=surveys.ensure(study=study, kind=SurveyKind.EXIT, now=now),
        updated_at=now,
    )
    _set_styles(plan, list(versions.ensure_styles(study=study, names=versions.DEFAULT_STYLES, now=now).values()))
    return plan


@transaction.atomic
def change_terms(
    *,
    plan: WritingPlan,
    terms: Mapping[str, Any],
    style_names: Sequence[str] | None = None,
    trial_topics: Sequence[str] | None = None,
    now: datetime,
) -> WritingPlan:
    """Change the terms of a plan. Tasks that are already claimed keep their terms.

    Parameters
    ----------
    terms
        The changed fields of `WritingPlan.TERMS`; money in minor units of the study's currency.
    style_names, trial_topics
        None to keep the current ones.

    Raises
    ------
    BadPlan
        With messages by field; then nothing is changed.
    """
    plan = slots.lock_plan(plan)
    problems = set_terms(plan, terms)
    chosen = _styles(plan, style_names, problems) if style_names is not None else styles_of(plan)
    tried = _trial_topics(plan, trial_topics, problems) if trial_topics is not None else None
    if plan.is_open and not plan.pay:
        problems["pay"] = "This plan is open and people are writing. Enter the pay, or close the plan first."
    if plan.is_open and not chosen:
        problems["styles"] = CLOSE_FIRST
    if problems:
        raise BadPlan(problems)
    _touch(plan, now)
    if style_names is not None:
        _set_styles(plan, chosen)
    if tried is not None:
        _set_trial_topics(plan, tried)
    if plan.is_open:
        slots.ensure(plan, now)
    return plan


def styles_of(plan: WritingPlan) -> list[Style]:
    """Return the styles of a plan in order."""
    return [each.style for each in plan.plan_styles.select_related("style").order_by("position", "id")]


@transaction.atomic
def change_instructions(*, plan: WritingPlan, text: str, now: datetime) -> WritingPlan:
    """Change the instructions: create a new version, unless the text equals an existing one.

    Raises
    ------
    BadPlan
    """
    text = _text(text)
    if not text:
        raise BadPlan({"text": "Enter the instructions."})
    plan = slots.lock_plan(plan)
    plan.instructions = _instructions(plan.study, text, now)
    return _touch(plan, now)


@transaction.atomic
def change_consent(
    *, plan: WritingPlan, text: str, text_licence: str, log_licence: str, timing_licence: str, now: datetime
) -> WritingPlan:
    """Change the consent text. Writers who agreed to another version are asked again.

    Raises
    ------
    BadPlan
    """
    content = {
        "text": _text(text),
        "text_licence": text_licence.strip(),
        "log_licence": log_licence.strip(),
        "timing_licence": timing_licence.strip(),
    }
    problems = codes.unknown_licences(content)
    if not content["text"]:
        problems["text"] = "Enter the consent text."
    if not content["text_licence"]:
        problems["text_licence"] = "Enter the licence under which responses are released, for example CC-BY-4.0."
    if problems:
        raise BadPlan(problems)
    plan = slots.lock_plan(plan)
    plan.consent_text = _consent(plan.study, content, now)
    return _touch(plan, now)


@transaction.atomic
def change_survey(
    *, plan: WritingPlan, kind: SurveyKind, questions: list[dict[str, Any]], now: datetime
) -> WritingPlan:
    """Change the questions before or after writing; a survey without questions is not shown.

    Raises
    ------
    surveys.BadSurvey
        With all problems; then nothing is changed.
    """
    plan = slots.lock_plan(plan)
    survey: Survey | None = None
    if questions:
        survey = surveys.ensure(study=plan.study, kind=kind, questions=questions, now=now)
    setattr(plan, SURVEY_FIELDS[kind], survey)
    return _touch(plan, now)


@transaction.atomic
def add_style(
    *, plan: WritingPlan, name: str, label: str, instructions: str, target_words: int, now: datetime
) -> Style:
    """Create a style, or a new version of an existing one, and add it to the plan.

    Raises
    ------
    BadPlan
    """
    content = {"label": label.strip(), "instructions": _text(instructions), "target_words": target_words}
    style = Style(study=plan.study, name=name, created_at=now)
    problems = set_terms(style, content)
    if not surveys.NAME.fullmatch(name):
        problems["name"] = "Use only lower-case letters, digits and underscores. Start with a letter."
    if not content["instructions"]:
        problems["instructions"] = "Enter instructions for this style."
    if problems:
        raise BadPlan(problems)
    plan = slots.lock_plan(plan)
    style, _made = versions.ensure(Style, study=plan.study, name=name, now=now, **content)
    styles = styles_of(plan)
    names = [each.name for each in styles]
    if name in names:
        styles[names.index(name)] = style
    else:
        styles.append(style)
    _set_styles(plan, styles)
    _touch(plan, now)
    if plan.is_open:
        slots.ensure(plan, now)
    return style


def _styles(plan: WritingPlan, names: Sequence[str], problems: dict[str, str]) -> list[Style]:
    """Return the styles with these names: the plan's versions, else the latest ones, else the defaults."""
    styles = versions.ensure_styles(study=plan.study, names=names, now=plan.updated_at)
    # The plan's version is kept until it is changed explicitly.
    styles |= {each.style.name: each.style for each in plan.plan_styles.select_related("style")}
    if unknown := [name for name in names if name not in styles]:
        problems["styles"] = "This study has no style called {names}.".format(names=", ".join(unknown))
    return [styles[name] for name in dict.fromkeys(names) if name in styles]


def _trial_topics(plan: WritingPlan, ids: Sequence[str], problems: dict[str, str]) -> list[Topic]:
    topic_ids = list(dict.fromkeys(ids))
    current = Topic.objects.filter(study=plan.study_id, external_id__in=topic_ids).current()
    topics = {topic.external_id: topic for topic in current}
    with_passages = set(current.filter(retrieved__isnull=False).values_list("external_id", flat=True))
    if len(topic_ids) > MOST_TRIAL_TOPICS:
        problems["trial_topics"] = f"Enter at most {MOST_TRIAL_TOPICS} topics."
    elif unknown := [each for each in topic_ids if each not in topics]:
        problems["trial_topics"] = "This study has no topic with the ID {ids}.".format(ids=", ".join(unknown))
    elif bare := [each for each in topic_ids if each not in with_passages]:
        problems["trial_topics"] = "These topics have no passages: {ids}.".format(ids=", ".join(bare))
    return [topics[each] for each in topic_ids if each in topics]


def _set_styles(plan: WritingPlan, chosen: Sequence[Style]) -> None:
    plan.plan_styles.all().delete()
    PlanStyle.objects.bulk_create(PlanStyle(plan=plan, style=each, position=n) for n, each in enumerate(chosen))


def _set_trial_topics(plan: WritingPlan, chosen: Sequence[Topic]) -> None:
    plan.plan_trial_topics.all().delete()
    rows = [PlanTrialTopic(plan=plan, topic=each, position=n) for n, each in enumerate(chosen)]
    PlanTrialTopic.objects.bulk_create(rows)


def _touch(plan: WritingPlan, now: datetime) -> WritingPlan:
    plan.updated_at = now
    plan.save()
    return plan


def _instructions(study: Study, text: str, now: datetime) -> WritingInstructions:
    return versions.ensure(WritingInstructions, study=study, name=NAME, now=now, text=text)[0]


def _consent(study: Study, content: Mapping[str, str], now: datetime) -> ConsentText:
    return versions.ensure(ConsentText, study=study, name=NAME, now=now, **content)[0]


def _default_consent(study: Study) -> dict[str, str]:
    licence = study.text_licence
    return {
        "text": default_texts.consent(study),
        "text_licence": licence,
        "log_licence": licence,
        "timing_licence": licence,
    }


def _text(text: str) -> str:
    """Normalise line ends, and remove characters that the database cannot store."""
    cleaned = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return cleaned.encode("utf-8", "replace").decode().strip()


@dataclass(frozen=True)
class Costs:
    """The cost of all responses of a plan and the hours of writing, without trials and top-ups."""

    topics: int
    styles: int
    slots: int
    pay: int
    fee: int
    tax: int
    minutes: int

    @property
    def responses(self) -> int:
        """The number of planned responses."""
        return self.topics * self.styles * self.slots

    @property
    def each(self) -> int:
        """The cost of one response."""
        return self.pay + self.fee + self.tax

    @property
    def total(self) -> int:
        """The cost of all responses."""
        return self.responses * self.each

    @property
    def hours(self) -> float:
        """The total hours of writing if each response takes the stated time."""
        return self.responses * self.minutes / 60


def costs(plan: WritingPlan) -> Costs:
    """Compute the costs of a plan."""
    trial = plan.trial_topics.values_list("external_id", flat=True)
    topics = Topic.objects.filter(study=plan.study_id).current().exclude(external_id__in=list(trial))
    return Costs(topics.count(), plan.plan_styles.count(), plan.slots, plan.pay, plan.fee, plan.tax, plan.minutes)


def promised_wage(plan: WritingPlan) -> float | None:
    """Return the hourly pay if a response takes the stated time; None if no time is stated."""
    return plan.pay * 60 / plan.minutes if plan.minutes else None


class NotReady(ValueError):  # noqa: N818 -- describes the plan
    """The plan is incomplete; `problems` lists what is missing."""

    def __init__(self, problems: list[str]):
        self.problems = problems
        super().__init__(" ".join(problems))


def readiness(plan: WritingPlan) -> Readiness:
    """Return what a plan lacks, and warnings about it."""
    outcome = Readiness()
    _topics(plan, outcome)
    if not plan.plan_styles.exists():
        outcome.problems.append("Choose at least one style.")
    if not plan.pay:
        outcome.problems.append("Enter the pay per response.")
    if not plan.minutes:
        outcome.problems.append("Enter the estimated minutes per response.")
    if plan.instructions is None:
        outcome.problems.append("Write the instructions.")
    if plan.consent_text is None:
        outcome.problems.append("Write the consent text.")
    _wage(plan, outcome)
    return outcome


@transaction.atomic
def open_plan(*, plan: WritingPlan, now: datetime) -> WritingPlan:
    """Open the plan to writers and create the slots. Repeating this has no effect.

    Raises
    ------
    NotReady
        If something is missing; then nothing is changed.
    """
    plan = slots.lock_plan(plan)
    if not (outcome := readiness(plan)).is_ready:
        raise NotReady(outcome.problems)
    if not plan.is_open:
        plan.is_open, plan.updated_at = True, now
        plan.save(update_fields=["is_open", "updated_at"])
    slots.ensure(plan, now)
    return plan


@transaction.atomic
def close_plan(*, plan: WritingPlan, now: datetime) -> WritingPlan:
    """Close the plan to new tasks. Writers who have a task can finish it and are paid."""
    plan = slots.lock_plan(plan)
    if plan.is_open:
        plan.is_open, plan.updated_at = False, now
        plan.save(update_fields=["is_open", "updated_at"])
        outbox.publish_campaign_ended(study=plan.study, kind="writing", name="", campaign=None, now=now)
    return plan


def _topics(plan: WritingPlan, outcome: Readiness) -> None:
    trial = plan.trial_topics.values_list("external_id", flat=True)
    topics = Topic.objects.filter(study=plan.study_id).current().exclude(external_id__in=list(trial))
    known = list(topics.order_by("external_id").values_list("external_id", flat=True))
    with_passages = set(topics.filter(retrieved__isnull=False).values_list("external_id", flat=True).distinct())
    bare = [external_id for external_id in known if external_id not in with_passages]
    if not known:
        outcome.problems.append("There are no topics to write on. Import topics with their passages.")
    elif not with_passages:
        outcome.problems.append("No topic has passages. Import passages with the topics, or as a run with passages.")
    elif bare:
        named = {"n": len(bare), "ids": ", ".join(bare[:5]) + (" …" if len(bare) > 5 else "")}
        outcome.warnings.append(
            (
                "%(n)s topic has no passages to cite: %(ids)s"
                if len(bare) == 1
                else "%(n)s topics have no passages to cite: %(ids)s"
            )
            % named
        )


def _wage(plan: WritingPlan, outcome: Readiness) -> None:
    outcome.warnings.extend(undisclosed(plan.study))
    wage = promised_wage(plan)
    if plan.wage_floor is None:
        outcome.warnings.append("No minimum hourly pay set: you will not be warned about low pay.")
    elif wage is not None and plan.pay and wage < plan.wage_floor:
        amounts = {
            "wage": money.format_amount(wage, plan.study.currency),
            "floor": money.format_amount(plan.wage_floor, plan.study.currency),
            "minutes": plan.minutes,
        }
        outcome.warnings.append(
            "At {minutes} minutes per response, the pay is {wage} per hour, below your minimum of {floor}.".format(
                **amounts
            )
        )
