"""Queries of model-writing runs and their answers, for pages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise

from crowdrag.jobs import kinds
from crowdrag.jobs.models import Run
from crowdrag.llm import GatewayError
from crowdrag.llm.models import Call, Endpoint
from crowdrag.llm.requests import prepare
from crowdrag.studies.models import Study

from ..enums import AnswerOutcome
from ..models import ModelAnswer, Response, Style, WritingPrompt
from . import targets
from .targets import TopicSelection
from .writer import AnswerForm, Writer


@dataclass(frozen=True)
class WritingRunRow:
    """A run in which a model writes, with its results so far."""

    run: Run
    endpoint: str
    answers: int
    counts: list[tuple[AnswerOutcome, int]]


@dataclass(frozen=True)
class Provenance:
    """The origin of a model's response: the model, the prompt, and the call with the answer (if it still exists)."""

    specification: dict[str, Any]
    answer: ModelAnswer | None
    call: Call | None


def result_url(run: Run) -> str:
    """Return the URL of a campaign's answers."""
    return reverse("model_campaign", args=[run.study.slug, run.key])


def runs(study: Study) -> QuerySet[Run]:
    """Return a study's runs in which models wrote, of any kind with such answers, newest first."""
    keeps = Exists(ModelAnswer.objects.filter(run=OuterRef("pk")))
    return Run.objects.filter(keeps | Q(kind__in=["write.model", "demo.write"]), study=study).newest_first()


def describe_runs(runs_shown: Iterable[Run]) -> list[WritingRunRow]:
    """Return campaigns with their results."""
    runs_shown = list(runs_shown)
    counted: dict[int, dict[str, int]] = {}
    rows = ModelAnswer.objects.filter(run__in=runs_shown).values_list("run", "outcome").annotate(n=Count("id"))
    for run, outcome, n in rows.order_by("run", "outcome"):
        counted.setdefault(run, {})[outcome] = n
    names = dict(Endpoint.objects.values_list("pk", "name"))
    return [_campaign(run, counted.get(run.pk, {}), names) for run in runs_shown]


def answers(run: Run, *, outcome: str = "") -> QuerySet[ModelAnswer]:
    """Return the answers of a campaign's model, by topic and style."""
    answers_of_run = ModelAnswer.objects.filter(run=run).select_related("topic", "style", "response", "participant")
    if outcome in AnswerOutcome.values:
        answers_of_run = answers_of_run.filter(outcome=outcome)
    return answers_of_run.order_by("topic__external_id", "style__name", "id")


def provenance(response: Response) -> Provenance | None:
    """Return the origin of a response; None unless a model wrote it and the prompt is known."""
    specification = response.participant.specification
    if response.origin != "MODEL" or not specification.get("model"):
        return None
    answer = response.model_answers.select_related("run").order_by("id").first()
    return Provenance(specification, answer, _call(response))


def _campaign(run: Run, counted: dict[str, int], names: dict[int, str]) -> WritingRunRow:
    counts = [(outcome, counted[outcome]) for outcome in AnswerOutcome if outcome in counted]
    endpoint = names.get(run.parameters.get("endpoint", 0), "")
    return WritingRunRow(run, endpoint, sum(counted.values()), counts)


def _call(response: Response) -> Call | None:
    """Find the call of a response: build the same request again, and look up its digest."""
    specification = response.participant.specification
    endpoint = Endpoint.objects.filter(name=specification.get("endpoint"), model=specification["model"]).first()
    if endpoint is None or "form" not in specification:
        return None
    writer = Writer(
        endpoint=endpoint,
        prompt=WritingPrompt(text=specification["prompt"]),
        form=specification["form"],
        words=specification.get("words"),
        parameters=specification.get("parameters", {}),
    )
    try:
        question = prepare(
            endpoint=endpoint, request=writer.request(targets.slot_of(topic=response.topic, style=response.style))
        )
    except (GatewayError, KeyError):
        return None
    return Call.objects.filter(digest=question.digest).first()


# In display order. The seed is shown on every run's page.
LABELS: Final[Mapping[str, str | Promise]] = {
    "endpoint": "Endpoint",
    "prompt": "Prompt",
    "styles": "Styles",
    "topics": "Topics",
    "which": "Topics and styles",
    "form": "Answer format",
    "words": "Target length (words)",
    "overlong": "Length limit (multiple of target)",
    "accept_overlong": "Keep answers that are too long as responses",
    "parameters": "Model parameters",
}


def describe_parameters(run: Run) -> dict[str, Any]:
    """Describe a run's parameters for display; deleted objects are shown by their stored values."""
    return kinds.label_parameters(run.parameters, labels=LABELS, words=_WORDS)


def run_subjects(runs: Sequence[Run]) -> dict[int, str]:
    """Return the name of the endpoint of each run, by the run's key."""
    names = dict(Endpoint.objects.values_list("pk", "name"))
    return {run.pk: names.get(run.parameters.get("endpoint"), "") for run in runs}


def _endpoint(key: Any) -> Any:
    return Endpoint.objects.filter(pk=key).values_list("name", flat=True).first() or key


def _prompt(key: Any) -> Any:
    prompt = WritingPrompt.objects.filter(pk=key).first()
    return key if prompt is None else str(f"{prompt.name}, version {prompt.version}")


def _styles(keys: Any) -> Any:
    labels = dict(Style.objects.filter(pk__in=keys).values_list("pk", "label"))
    return [labels.get(key, key) for key in keys]


def _topics(names: Any) -> Any:
    return names or "all"


_WORDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "endpoint": _endpoint,
    "prompt": _prompt,
    "styles": _styles,
    "topics": _topics,
    "which": kinds.choice_label(TopicSelection.choices),
    "form": kinds.choice_label(AnswerForm.choices),
}
