"""Names of what results hold, as people read them."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Dimension
from crowdrag.studies.models import Study
from writing.enums import Origin
from writing.models import Style

FIGURES = {
    "topics": gettext_lazy("Topics"),
    "responses": gettext_lazy("Responses"),
    "non_responses": gettext_lazy("Non-responses (too short)"),
    "words_per_response": gettext_lazy("Words per response"),
    "words_per_response_human": gettext_lazy("Words per response, human"),
    "words_per_response_model": gettext_lazy("Words per response, model"),
    "words_per_response_system": gettext_lazy("Words per response, system"),
    "writers_human": gettext_lazy("Human writers"),
    "writers_model": gettext_lazy("Models that wrote"),
    "writers_system": gettext_lazy("Systems that wrote"),
    "topics_judged": gettext_lazy("Topics judged"),
    "responses_judged": gettext_lazy("Responses judged"),
    "dimensions": gettext_lazy("Dimensions"),
    "pairs": gettext_lazy("Presented pairs"),
    "pairs_in_both_orders": gettext_lazy("Pairs shown in both orders"),
    "differentiable_share": gettext_lazy("Differentiable pairs"),
    "judges": gettext_lazy("Judges"),
    "judgments": gettext_lazy("Judgments that count"),
    "judgments_surplus": gettext_lazy("Surplus judgments"),
    "judgments_per_judge": gettext_lazy("Judgments per judge"),
    "judgments_expert": gettext_lazy("Judgments by experts"),
    "judgments_model": gettext_lazy("Judgments by models"),
    "judgments_pointwise": gettext_lazy("Pointwise judgments"),
    "minutes_per_questionnaire": gettext_lazy("Minutes per questionnaire"),
    "responses_per_writer_human": gettext_lazy("Responses per writer, human"),
    "responses_per_writer_model": gettext_lazy("Responses per writer, model"),
    "responses_per_writer_system": gettext_lazy("Responses per writer, system"),
    "minutes_per_response_median": gettext_lazy("Minutes from first to last event per response, median"),
    "minutes_per_response_mean": gettext_lazy("Minutes from first to last event per response, mean"),
    "active_minutes_per_response_median": gettext_lazy("Active minutes per response, median"),
    "active_minutes_per_response_mean": gettext_lazy("Active minutes per response, mean"),
    "pay_per_response": gettext_lazy("Pay per response"),
    "cost_per_response": gettext_lazy("Cost per response, with fee and tax"),
    "hourly_rate_writing": gettext_lazy("Pay per hour, writing"),
    "questionnaires": gettext_lazy("Questionnaires"),
    "judgments_per_questionnaire": gettext_lazy("Judgments per questionnaire"),
    "minutes_per_judgment": gettext_lazy("Minutes per judgment"),
    "pay_per_questionnaire": gettext_lazy("Pay per questionnaire"),
    "cost_per_questionnaire": gettext_lazy("Cost per questionnaire, with fee and tax"),
    "hourly_rate_judging": gettext_lazy("Pay per hour, judging"),
    "cost_per_judgment": gettext_lazy("Cost per judgment, with fee and tax"),
    "cost_per_label": gettext_lazy("Cost per gold label, with fee and tax"),
}
SHARES = {"differentiable_share"}
SURVEY_KINDS = {"entry": gettext_lazy("before"), "exit": gettext_lazy("after")}
ALL = "all"
EVERY_DIMENSION = gettext_lazy("All dimensions")


def figure(name: str) -> str:
    """Return the name of a key figure in words."""
    if name in FIGURES:
        return str(FIGURES[name])
    return name.replace("_", " ").capitalize()


def question(name: str) -> str:
    """Return what a survey's question that has no text is called in words."""
    return name.strip().replace("_", " ").capitalize()


def asked(text: str, kind: str) -> str:
    """Return a question with when it was asked."""
    return f"{text} ({SURVEY_KINDS.get(kind, kind)})"


def dimensions(study: Study) -> dict[str, str]:
    """Return the labels of a study's dimensions by name: those of the latest version."""
    found = Dimension.objects.filter(study=study).order_by("version", "id").values_list("name", "label")
    return {str(name): str(label or name) for name, label in found}


def origin(name: str) -> str:
    """Return an origin in words."""
    if name == ALL:
        return _("all")
    return str(Origin[name.upper()].label) if name.upper() in Origin.names else name


def system(row: dict[str, Any]) -> str:
    """Return what a row of the leaderboard is about: a system by its name, all of an origin by what they are."""
    return _("People") if row["kind"] == "origin" else str(row["participant"])


def styles(study: Study) -> dict[str, str]:
    """Return the labels of a study's styles by name, those of the latest version; and what their margin is called."""
    found = Style.objects.filter(study=study).order_by("version", "id").values_list("name", "label")
    return {str(name): str(label or name) for name, label in found} | {ALL: _("All styles")}
