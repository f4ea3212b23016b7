"""Making a plan and changing it. A text that changes becomes a new version; what was read stays as it was."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from crowdrag.studies import codes
from crowdrag.studies.models import ConsentText, Study

from ...enums import SurveyKind
from ...models import PlanStyle, PlanTrialTopic, Style, Survey, Topic, WritingInstructions, WritingPlan
from .. import styles, surveys, versions
from ..imports import storing
from ..tasks import slots
from . import texts

# What the study's instructions and consent text for writers are called among its texts.
NAME: Final = "writing"
MOST_TRIAL_TOPICS: Final = 20
SURVEY_FIELDS: Final = {SurveyKind.ENTRY: "entry_survey", SurveyKind.EXIT: "exit_survey"}
CLOSE_FIRST: Final = gettext_noop("People are writing by this plan: close it first.")


class BadPlan(ValueError):  # noqa: N818 -- it says what the plan would be
    """A change that cannot be made; `problems` maps a field to what is wrong with it. Nothing was changed."""

    def __init__(self, problems: Mapping[str, str]):
        self.problems = dict(problems)
        super().__init__("; ".join(f"{field}: {problem}" for field, problem in problems.items()))


@dataclass(frozen=True)
class Terms:
    """What is asked for and what it pays; money in minor units of the study's currency."""

    slots: int
    pay: int
    fee: int
    tax: int
    wage_floor: int | None
    minutes: int
    lease_hours: int
    tasks_per_person: int | None


def get(study: Study) -> WritingPlan | None:
    """Return a study's plan with its texts, if it has one."""
    texts_too = ("study", "instructions", "consent_text", "entry_survey", "exit_survey")
    return WritingPlan.objects.filter(study=study).select_related(*texts_too).first()


@transaction.atomic
def ensure(study: Study, now: datetime) -> WritingPlan:
    """Return a study's plan; where it has none, make one that is closed: the default styles, texts and questions."""
    if (plan := get(study)) is not None:
        return plan
    storing.hold(study)  # two who come at once get one plan
    if (plan := get(study)) is not None:
        return plan
    plan = WritingPlan.objects.create(
        study=study,
        instructions=_instructions(study, texts.instructions(), now),
        consent_text=_consent(study, _default_consent(study), now),
        entry_survey=surveys.ensure(study=study, kind=SurveyKind.ENTRY, now=now),
        exit_survey=surveys.ensure(study=study, kind=SurveyKind.EXIT, now=now),
        updated_at=now,
    )
    _set_styles(plan, list(styles.ensure(study=study, names=styles.DEFAULTS, now=now).values()))
    return plan


@transaction.atomic
def change(
    *, plan: WritingPlan, terms: Terms, style_names: Sequence[str], trial_topics: Sequence[str], now: datetime
) -> WritingPlan:
    """Change what is asked for and what it pays; who has claimed a task keeps what was said then.

    Raises
    ------
    BadPlan
        with what is wrong by field; then nothing was changed.
    """
    plan = slots.hold(plan)
    problems: dict[str, str] = {}
    chosen = _styles(plan, style_names, problems)
    tried = _trial_topics(plan, trial_topics, problems)
    for field, value in asdict(terms).items():
        setattr(plan, field, value)
        _check(plan, field, problems)
    for field in ("minutes", "tasks_per_person"):
        if getattr(terms, field) == 0:
            problems.setdefault(field, _("At least 1."))
    if plan.is_open and not terms.pay:
        problems["pay"] = _("People are writing by this plan: say what it pays, or close it first.")
    if plan.is_open and not chosen:
        problems["styles"] = _(CLOSE_FIRST)
    if problems:
        raise BadPlan(problems)
    _touch(plan, now)
    _set_styles(plan, chosen)
    _set_trial_topics(plan, tried)
    if plan.is_open:
        slots.ensure(plan, now)
    return plan


@transaction.atomic
def change_instructions(*, plan: WritingPlan, text: str, now: datetime) -> WritingPlan:
    """Change what writers are told: a new version, unless the text is one that there was.

    Raises
    ------
    BadPlan
    """
    text = _text(text)
    if not text:
        raise BadPlan({"text": _("Tell people what to do.")})
    plan = slots.hold(plan)
    plan.instructions = _instructions(plan.study, text, now)
    return _touch(plan, now)


@transaction.atomic
def change_consent(
    *, plan: WritingPlan, text: str, text_licence: str, log_licence: str, timing_licence: str, now: datetime
) -> WritingPlan:
    """Change what people are asked to agree to. Who agreed to another version is asked again.

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
        problems["text"] = _("Say what people agree to.")
    if not content["text_licence"]:
        problems["text_licence"] = _("Say under which licence responses are released, as CC-BY-4.0.")
    if problems:
        raise BadPlan(problems)
    plan = slots.hold(plan)
    plan.consent_text = _consent(plan.study, content, now)
    return _touch(plan, now)


@transaction.atomic
def change_survey(
    *, plan: WritingPlan, kind: SurveyKind, questions: list[dict[str, Any]], now: datetime
) -> WritingPlan:
    """Change the questions before or after writing; none at all is a survey that is not asked.

    Raises
    ------
    surveys.BadSurvey
        with what is wrong; then nothing was changed.
    """
    plan = slots.hold(plan)
    survey: Survey | None = None
    if questions:
        survey = surveys.ensure(study=plan.study, kind=kind, questions=questions, now=now)
    setattr(plan, SURVEY_FIELDS[kind], survey)
    return _touch(plan, now)


@transaction.atomic
def add_style(
    *, plan: WritingPlan, name: str, label: str, instructions: str, target_words: int, now: datetime
) -> Style:
    """Make a style of the study's own, or a new version of one that it has, and ask for it.

    Raises
    ------
    BadPlan
    """
    content = {"label": label.strip(), "instructions": _text(instructions), "target_words": target_words}
    style = Style(study=plan.study, name=name, created_at=now, **content)
    problems: dict[str, str] = {}
    if not surveys.NAME.fullmatch(name):
        problems["name"] = _("Small letters, digits and underscores only, beginning with a letter.")
    for field in content:
        _check(style, field, problems)
    if not content["instructions"]:
        problems["instructions"] = _("Say how to write in this style.")
    if not 0 < target_words <= 5000:
        problems["target_words"] = _("Between 1 and 5000 words.")
    if problems:
        raise BadPlan(problems)
    plan = slots.hold(plan)
    style, _made = versions.ensure(Style, study=plan.study, name=name, now=now, **content)
    asked = [each.style for each in plan.plan_styles.select_related("style").order_by("position", "id")]
    names = [each.name for each in asked]
    if name in names:
        asked[names.index(name)] = style
    else:
        asked.append(style)
    _set_styles(plan, asked)
    _touch(plan, now)
    if plan.is_open:
        slots.ensure(plan, now)
    return style


def _styles(plan: WritingPlan, names: Sequence[str], problems: dict[str, str]) -> list[Style]:
    """Return the styles of these names: as the plan has them, the latest versions of others, defaults where missing."""
    found = styles.ensure(study=plan.study, names=names, now=plan.updated_at)
    # A version that the plan asks for stays until it is changed on purpose.
    found |= {each.style.name: each.style for each in plan.plan_styles.select_related("style")}
    if unknown := [name for name in names if name not in found]:
        problems["styles"] = _("This study has no style %(names)s.") % {"names": ", ".join(unknown)}
    return [found[name] for name in dict.fromkeys(names) if name in found]


def _trial_topics(plan: WritingPlan, ids: Sequence[str], problems: dict[str, str]) -> list[Topic]:
    wanted = list(dict.fromkeys(ids))
    current = Topic.objects.filter(study=plan.study_id, external_id__in=wanted).current()
    found = {topic.external_id: topic for topic in current}
    with_passages = set(current.filter(retrieved__isnull=False).values_list("external_id", flat=True))
    if len(wanted) > MOST_TRIAL_TOPICS:
        problems["trial_topics"] = _("At most %(n)s topics.") % {"n": MOST_TRIAL_TOPICS}
    elif unknown := [each for each in wanted if each not in found]:
        problems["trial_topics"] = _("This study has no topic %(ids)s.") % {"ids": ", ".join(unknown)}
    elif bare := [each for each in wanted if each not in with_passages]:
        problems["trial_topics"] = _("There are no passages for %(ids)s.") % {"ids": ", ".join(bare)}
    return [found[each] for each in wanted if each in found]


def _set_styles(plan: WritingPlan, chosen: Sequence[Style]) -> None:
    plan.plan_styles.all().delete()
    PlanStyle.objects.bulk_create(PlanStyle(plan=plan, style=each, position=n) for n, each in enumerate(chosen))


def _set_trial_topics(plan: WritingPlan, chosen: Sequence[Topic]) -> None:
    plan.plan_trial_topics.all().delete()
    rows = [PlanTrialTopic(plan=plan, topic=each, position=n) for n, each in enumerate(chosen)]
    PlanTrialTopic.objects.bulk_create(rows)


def _check(row: Any, field: str, problems: dict[str, str]) -> None:
    """Note what the model's own rules say of one field."""
    try:
        row._meta.get_field(field).clean(getattr(row, field), row)
    except ValidationError as error:
        problems[field] = " ".join(error.messages)


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
        "text": texts.consent(study),
        "text_licence": licence,
        "log_licence": licence,
        "timing_licence": licence,
    }


def _text(given: str) -> str:
    """Return a text with the line ends of the database, without what it cannot hold."""
    cleaned = given.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return cleaned.encode("utf-8", "replace").decode().strip()
