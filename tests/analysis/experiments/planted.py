"""A tiny experiment whose result is known: how often a model says the right answer with and without documents."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from analysis.experiments import experiment as experiments
from analysis.experiments.experiment import (
    BadParameterError,
    CostEstimate,
    Experiment,
    Stage,
    each_query,
)
from analysis.figures.figure import FIGURES, Figure
from analysis.figures.vega_lite import data, refuse_empty, spec
from analysis.parameters import parameter
from analysis.rag import qa_metrics
from analysis.rag.protocols import Message, Prompt
from analysis.reports.types import Methods
from analysis.tables.table import TABLES, Column, Table, count, estimate
from crowdrag.jobs import kinds

TABLE = "planted_scores"


@dataclass(frozen=True)
class Parameters:
    """`weights`: by which scores are multiplied, for nothing but that a list is asked for."""

    k: int = parameter(2, "Documents", "integer", help="How many are shown.", least=1, most=5)
    weights: tuple[float, ...] = parameter(
        (1.0,), "Weights", "numbers", help="What scores are multiplied by.", least=0, most=1, is_advanced=True
    )
    is_strict: bool = parameter(False, "Strict", "flag", is_advanced=True)
    words: str = parameter("short", "Words", "choice", choices=(("short", "few"), ("long", "many")))
    judge: str = parameter("", "Judge", "model", is_advanced=True)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "Parameters":
        """Read and check."""
        if unknown := set(given) - set(cls.__dataclass_fields__):
            raise BadParameterError(f"Unknown parameters: {', '.join(sorted(unknown))}.")
        made = cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()})
        if not 1 <= made.k <= 5:
            raise BadParameterError(f"k is {made.k}; it is from 1 to 5.")
        return made

    def to_dict(self) -> dict[str, Any]:
        """Write."""
        return {**asdict(self), "weights": list(self.weights)}


def asked(query, k: int) -> Prompt:
    """One prompt of a query; the odd server of tests/llm answers what stands after "ok:"."""
    shown = "\n".join([*(document.text for document in query.documents[:k]), query.question])
    return Prompt((Message("user", shown),), max_tokens=16)


def answer(context) -> dict[str, Any]:
    """First stage: answer with no documents and with k."""
    found = {}
    for query in context.queries:
        bare, full = context.generator.generate([asked(query, 0), asked(query, context.parameters.k)])
        found[query.id] = {"bare": bare.text, "full": full.text}
    return found


def score(context) -> dict[str, Any]:
    """Second stage: it reads what the first found, of all questions."""
    said = context.results("answer")
    return {
        name: {key: qa_metrics.exact_match(text, context.by_id[name].answers) for key, text in each.items()}
        for name, each in said.items()
    }


def tables(context) -> dict[str, list[dict[str, Any]]]:
    """The mean of both."""
    scores = list(context.results("score").values())
    rows = []
    for condition in ("bare", "full"):
        mean = sum(each[condition] for each in scores) / len(scores)
        rows.append({"condition": condition, "score": mean, "low": None, "high": None, "n": len(scores)})
    return {TABLE: rows}


def expected(collection, parameters) -> CostEstimate:
    """Two calls a question."""
    n = len(collection.queries)
    return CostEstimate(2 * n, 40 * n, 32 * n, queries=n, note="Two prompts a question.")


def methods(run, rows) -> Methods:
    """A sentence."""
    return Methods((f"{run.summary['queries']} questions were asked twice.",), ())


def chart(found, labels, colours, parameters):
    """A bar for each."""
    import altair as alt

    refuse_empty(found[TABLE])
    return spec(alt.Chart(data(found[TABLE])).mark_bar().encode(x="condition:N", y="score:Q"))


PLANTED = Experiment(
    name="planted",
    title="Planted answers",
    about="Asks each question with and without its documents.",
    parameters=Parameters,
    collections=("study", "qa", "bank"),
    stages=(
        Stage("answer", "Answering", answer, each_query(2)),
        Stage("score", "Scoring", score, lambda _collection, _parameters: [{}]),
    ),
    tables=(
        Table(
            TABLE,
            "Right answers",
            "Share of exact matches.",
            (
                Column("condition", "Shown", words={"bare": "the question alone", "full": "with documents"}),
                estimate("score", "Exact match", n="n"),
                count("n", "Questions"),
            ),
        ),
    ),
    figures=(Figure(TABLE, "Right answers", "Exact match.", "Two bars.", (TABLE,), chart),),
    compute=tables,
    estimate=expected,
    methods=methods,
)


def install(monkeypatch) -> Experiment:
    """Make it known for one test, with its table and chart."""
    monkeypatch.setitem(TABLES, TABLE, PLANTED.tables[0])
    monkeypatch.setitem(FIGURES, TABLE, PLANTED.figures[0])
    monkeypatch.setitem(experiments.EXPERIMENTS, PLANTED.name, PLANTED)
    monkeypatch.setattr(kinds, "_kinds", dict(kinds._kinds))
    return experiments.register(PLANTED)
