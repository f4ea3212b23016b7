"""Runs of models as writers, and their answers, for pages."""

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
    """A run that asked a model to write, with what came of it so far."""

    run: Run
    endpoint: str
    answers: int
    counts: list[tuple[AnswerOutcome, int]]


@dataclass(frozen=True)
class Provenance:
    """Who wrote a response: the model, what it was told, and the call that holds the answer (if it is still there)."""

    specification: dict[str, Any]
    answer: ModelAnswer | None
    call: Call | None


def result_url(run: Run) -> str:
    """Return where a campaign's answers are shown."""
    return reverse("model_campaign", args=[run.study.slug, run.key])


def runs(study: Study) -> QuerySet[Run]:
    """Return the runs of a study in which models wrote: all kinds that keep such answers, the newest first."""
    keeps = Exists(ModelAnswer.objects.filter(run=OuterRef("pk")))
    return Run.objects.filter(keeps | Q(kind__in=["write.model", "demo.write"]), study=study).newest_first()


def describe_runs(runs_shown: Iterable[Run]) -> list[WritingRunRow]:
    """Return campaigns with what came of them."""
    runs_shown = list(runs_shown)
    counted: dict[int, dict[str, int]] = {}
    rows = ModelAnswer.objects.filter(run__in=runs_shown).values_list("run", "outcome").annotate(n=Count("id"))
    for run, outcome, n in rows.order_by("run", "outcome"):
        counted.setdefault(run, {})[outcome] = n
    names = dict(Endpoint.objects.values_list("pk", "name"))
    return [_campaign(run, counted.get(run.pk, {}), names) for run in runs_shown]


def answers(run: Run, *, outcome: str = "") -> QuerySet[ModelAnswer]:
    """Return what a campaign's model answered, by topic and style."""
    answers_of_run = ModelAnswer.objects.filter(run=run).select_related("topic", "style", "response", "participant")
    if outcome in AnswerOutcome.values:
        answers_of_run = answers_of_run.filter(outcome=outcome)
    return answers_of_run.order_by("topic__external_id", "style__name", "id")


def provenance(response: Response) -> Provenance | None:
    """Return who wrote a response, if a model did and it is known what it was asked."""
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
    """Find the call by asking what would be asked again: its digest says which it is."""
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


# In the order in which they are shown. The seed stands on the page of every run.
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
    """Return a run's parameters in words; what is gone stays as it was kept."""
    return kinds.label_parameters(run.parameters, labels=LABELS, words=_WORDS)


def run_subjects(runs: Sequence[Run]) -> dict[int, str]:
    """Name the models that write."""
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
