"""Model judges, their outcomes and runs, for the pages."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise

from crowdrag.jobs import kinds
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Call, Endpoint
from crowdrag.studies.models import Participant, Study
from writing.models import Response

from ..enums import Inference, Judges, JudgingOutcome
from ..models import Campaign, Dimension, JudgingAnswer, JudgingPrompt, Judgment
from . import injection, judge_run, trained_judge
from .stimuli import ItemSelection

Counts = list[tuple[JudgingOutcome, int]]
# Kinds of runs to list.
KINDS = (judge_run.KIND, injection.KIND, "demo.judge_model")
# Columns only, because a page may show thousands of judgments.
WHICH, SAYS = ("assignment__participant", "item", "repeat"), ("dimension", "value", "justification")


@dataclass(frozen=True)
class JudgeRow:
    """A model in one campaign: number of judgments, and outcomes of its answers."""

    participant: Participant
    campaign: Campaign
    items: int
    judgments: int
    own: int
    counts: Counts

    @property
    def is_trained(self) -> bool:
        """Whether it was trained on the study's judgments, and is no language model."""
        return bool(
            self.participant.specification and self.participant.specification.get("model") == trained_judge.MODEL
        )


@dataclass(frozen=True)
class RunRow:
    """A run of a model judge or of an injection test."""

    run: Run
    endpoint: str
    source: Campaign | None
    answers: int
    counts: Counts

    @property
    def is_measurement(self) -> bool:
        """Whether it is an injection test."""
        return self.run.kind == injection.KIND


@dataclass(frozen=True)
class Verdict:
    """A judgment with its dimension, value and justification."""

    dimension: Dimension
    value: int
    justification: str

    @property
    def option(self) -> str:
        """The label of the chosen option."""
        called = (one["label"] for one in self.dimension.options if one["value"] == self.value)
        return str(next(called, self.value))


@dataclass(frozen=True)
class AnswerRow:
    """An answer with the model's text (None if its call is missing or erased) and the stored judgments."""

    answer: JudgingAnswer
    said: str | None
    verdicts: list[Verdict]


def result_url(run: Run) -> str:
    """Return the URL of a run's results."""
    return reverse("model_judges_run", args=[run.study.slug, run.key])


def runs(study: Study) -> QuerySet[Run]:
    """Return a study's runs of model judges and injection tests, newest first."""
    return Run.objects.filter(Q(kind__in=KINDS), study=study).newest_first()


def describe_runs(runs_shown: Iterable[Run]) -> list[RunRow]:
    """Return runs with their outcomes."""
    runs_shown = list(runs_shown)
    counted: dict[int, Counts] = {}
    rows = JudgingAnswer.objects.filter(run__in=runs_shown).values_list("run", "outcome").annotate(n=Count("id"))
    for run, outcome, n in rows.order_by("run", "outcome"):
        if run is not None:
            counted.setdefault(run, []).append((JudgingOutcome(outcome), n))
    endpoints = dict(Endpoint.objects.values_list("pk", "name"))
    sources = Campaign.objects.in_bulk({run.parameters.get("source") for run in runs_shown} - {None})
    return [
        RunRow(
            run,
            endpoints.get(run.parameters.get("endpoint"), "–"),
            sources.get(run.parameters.get("source")),
            sum(n for _outcome, n in counted.get(run.pk, [])),
            counted.get(run.pk, []),
        )
        for run in runs_shown
    ]


def judges(study: Study) -> list[JudgeRow]:
    """Return the models that judged in a study, one row per campaign."""
    answers = JudgingAnswer.objects.filter(item__campaign__study=study)
    keys: dict[tuple[int, int], Counts] = {}
    rows = answers.values_list("participant", "item__campaign", "outcome").annotate(n=Count("pk"))
    for participant, campaign, outcome, n in rows.order_by("participant", "item__campaign", "outcome"):
        keys.setdefault((participant, campaign), []).append((JudgingOutcome(outcome), n))
    own_counts = _counted(answers.filter(is_own=True).values_list("participant", "item__campaign"), "item")
    judgments_by_model = Judgment.objects.filter(
        item__campaign__study=study, item__campaign__judges=Judges.MODEL, repeat=0
    ).values_list("assignment__participant", "item__campaign")
    judgments, items = _counted(judgments_by_model, "pk"), _counted(judgments_by_model, "item")
    # Imported judgments have no answers.
    for key in judgments:
        keys.setdefault(key, [])
    people = Participant.objects.in_bulk({participant for participant, _campaign in keys})
    campaigns = Campaign.objects.select_related("source").in_bulk({campaign for _participant, campaign in keys})
    judge_rows = [
        JudgeRow(people[who], campaigns[where], items.get((who, where), 0), judgments.get((who, where), 0),
                 own_counts.get((who, where), 0), counts)
        for (who, where), counts in keys.items()
    ]  # fmt: skip
    return sorted(judge_rows, key=lambda row: (row.participant.external_id, row.campaign.pk))


def answers(run: Run, *, outcome: str = "") -> QuerySet[JudgingAnswer]:
    """Return the answers of a run's model, by topic."""
    answers_of_run = JudgingAnswer.objects.filter(run=run).select_related(
        "item__topic",
        *Response.label_needs("item__pair__a", "item__pair__b", "item__response"),
        "dimension",
        "participant",
    )
    if outcome in JudgingOutcome.values:
        answers_of_run = answers_of_run.filter(outcome=outcome)
    return answers_of_run.order_by("item__topic__external_id", "item", "dimension", "repeat", "pk")


def with_verdicts(rows: Iterable[JudgingAnswer]) -> list[AnswerRow]:
    """Return answers with the model's text and the resulting judgments."""
    rows = list(rows)
    kept = Call.objects.filter(digest__in={row.digest for row in rows}, erased_at__isnull=True)
    calls = {call.digest: call for call in kept.only("digest", "text", "refusal", "error")}
    judgments = Judgment.objects.filter(
        item__in={row.item_id for row in rows}, assignment__participant__in={row.participant_id for row in rows}
    )
    stored = list(judgments.order_by("pk").values_list(*WHICH, *SAYS))
    dimensions = Dimension.objects.in_bulk({dimension for *_which, dimension, _value, _why in stored})
    verdicts: dict[tuple[int, int, int], list[Verdict]] = {}
    for participant, item, repeat, dimension, value, justification in stored:
        verdict = Verdict(dimensions[dimension], value, justification)
        verdicts.setdefault((participant, item, repeat), []).append(verdict)
    return [
        AnswerRow(
            row,
            _text_of_call(calls.get(row.digest)),
            [
                verdict
                for verdict in verdicts.get((row.participant_id, row.item_id, row.repeat), [])
                if row.dimension_id in {None, verdict.dimension.pk}
            ],
        )
        for row in rows
    ]


def _counted(rows: Any, what: str) -> dict[tuple[int, int], int]:
    """Return counts of rows by participant and campaign."""
    counted = rows.annotate(n=Count(what, distinct=True)).order_by()
    return {(who, where): n for who, where, n in counted}


def _text_of_call(call: Call | None) -> str | None:
    return None if call is None else (call.refusal or call.text or call.error or "")


# In display order. The seed is not listed here, because the page of every run shows it.
LABELS: Final[Mapping[str, str | Promise]] = {
    "endpoint": "Endpoint",
    "prompt": "Prompt",
    "source": "Campaign",
    "inference": "Prompting",
    "justify": "Justifications required",
    "which": "Items",
    "n": "Sample of pairs",
    "both": "Each pair in both orders",
    "repeats": "Repetitions",
    "dimension": "Question to test",
    "bare": "Also without delimiters",
    "parameters": "Model parameters",
}


def describe_parameters(run: Run) -> dict[str, Any]:
    """Return a run's parameters as displayed; deleted rows and unknown values as stored."""
    return kinds.label_parameters(run.parameters, labels=LABELS, words=_WORDS)


def run_subjects(runs: Sequence[Run]) -> dict[int, str]:
    """Return the names of each run's campaign and model."""
    sources = [run.parameters["source"] for run in runs if run.parameters.get("source")]
    campaigns = dict(Campaign.objects.filter(pk__in=sources).values_list("pk", "name"))
    models = dict(Endpoint.objects.values_list("pk", "name"))
    named = {
        run.pk: (campaigns.get(run.parameters.get("source")), models.get(run.parameters.get("endpoint")))
        for run in runs
    }
    return {key: ", judged by ".join(filter(None, names)) for key, names in named.items()}


def _endpoint(kept: Any) -> Any:
    return Endpoint.objects.filter(pk=kept).values_list("name", flat=True).first() or kept


def _campaign(kept: Any) -> Any:
    return Campaign.objects.filter(pk=kept).values_list("name", flat=True).first() or kept


def _question(kept: Any) -> Any:
    return Dimension.objects.filter(pk=kept).values_list("label", flat=True).first() or kept


def _prompt(kept: Any) -> Any:
    prompt = JudgingPrompt.objects.filter(pk=kept).first()
    if prompt is None:
        return kept
    return str(f"{prompt.name}, version {prompt.version}")


_WORDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "endpoint": _endpoint,
    "prompt": _prompt,
    "source": _campaign,
    "inference": kinds.choice_label(Inference.choices),
    "which": kinds.choice_label(ItemSelection.choices),
    "dimension": _question,
}
