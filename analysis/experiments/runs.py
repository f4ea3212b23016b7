"""Experiments as runs: units, eligible questions, duration and results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

from django.urls import reverse
from django.utils.functional import Promise

from analysis.rag.generation import model_cache
from analysis.rag.protocols import Collection, Generator, Usage
from crowdrag.jobs import kinds, lifecycle, run_files
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run, RunQuerySet, Unit
from crowdrag.llm.forecasts import Speed

from ..tables import run_tables
from ..tables.rows import Row
from . import generators, question_sets, unit_results, wording
from .experiment import BadParameterError, CostEstimate, Experiment
from .question_sets import BadFileError
from .stage_context import StageContext

#: Keys of a run's summary: the number of replies without a readable answer; no reply was readable; the main table is
#: empty; the number of questions, where it is small; uplift RAG selected no documents at all.
UNREADABLE, NONE_READ, EMPTY, FEW, BARE = "unreadable", "none_read", "empty", "few", "bare"
#: With fewer questions, bootstrap intervals are too narrow to rely on.
ENOUGH = 10


def summary(tables: Mapping[str, Sequence[Row]], headline: str, usage: Usage) -> dict[str, Any]:
    """Return the run's summary: usage, and facts about its tables that need a warning."""
    facts: dict[str, Any] = {"usage": asdict(usage)}
    counted = [row for rows in tables.values() for row in rows if row.get(UNREADABLE)]
    if counted:
        facts[UNREADABLE] = sum(row[UNREADABLE] for row in counted)
        facts[NONE_READ] = all(row[UNREADABLE] + row.get("failed", 0) == row.get("prompts") for row in counted)
    if headline in tables and not any(row.get("n", 1) for row in tables[headline]):
        facts[EMPTY] = True
    if any(row["method"] == "uplift" and row["documents"] == 0 for row in tables.get("uplift_inputs", ())):
        facts[BARE] = True
    if 0 < (questions := _questions(tables, headline)) < ENOUGH:
        facts[FEW] = questions
    return facts


def _questions(tables: Mapping[str, Sequence[Row]], headline: str) -> int:
    """The maximum number of questions behind the numbers: questions are resampled, however often each was measured."""
    by_query = [len({row["query"] for row in rows}) for rows in tables.values() if rows and "query" in rows[0]]
    rows = tables.get(headline) or [row for table_rows in tables.values() for row in table_rows if "questions" in row]
    of_rows = max((row.get("questions", row.get("n")) or 0 for row in rows), default=0)
    return min(of_rows, max(by_query)) if by_query else of_rows


def warnings(run: Run) -> list[str]:
    """Warnings above a result: no answers, nothing measured, few questions."""
    usage = run.summary.get("usage") or {}
    prompts, failed = usage.get("calls", 0) + usage.get("stored", 0), usage.get("failed", 0)
    messages = []
    if prompts and failed >= prompts:
        message = "The model refused or failed to answer every prompt (%(n)s). These results say nothing about it."
        messages.append(message % {"n": f"{failed:,}"})
    elif run.summary.get(NONE_READ):
        message = "None of the model's replies (%(n)s) could be read as an answer. They all count as wrong."
        messages.append(message % {"n": f"{run.summary[UNREADABLE]:,}"})
    if run.summary.get(EMPTY):
        messages.append("All questions were excluded, so the tables are empty. See the reasons below.")
    if run.summary.get(BARE):
        message = (
            "Uplift RAG selected no documents: no document had a probability above %(threshold)s to help. "
            "See the table “Helpful documents ranked first” for whether its rerankers rank better than the "
            "retriever. If so, see the table “Other thresholds” for lower thresholds."
        )
        messages.append(message % {"threshold": f"{run.parameters.get('threshold', 0.5):g}"})
    if run.summary.get(FEW):
        message = (
            "All results are from %(n)s questions or fewer. Bootstrap intervals from so few questions are too narrow."
        )
        messages.append(message % {"n": run.summary[FEW]})
    return messages


def losses(run: Run) -> list[str]:
    """The numbers of prompts without an answer and of unreadable replies, in sentences; empty if there are none."""
    messages = []
    if failed := (run.summary.get("usage") or {}).get("failed", 0):
        messages.append("{n} refused or failed".format(n=f"{failed:,}"))
    if unreadable := run.summary.get(UNREADABLE, 0):
        messages.append("{n} unreadable replies".format(n=f"{unreadable:,}"))
    return messages


_ANSWERS: Final = (
    "The file must contain right answers. For topics of the study, right answers are people's "
    "responses in the chosen style."
)
_DOCUMENTS: Final = (
    "Give each question documents in the file, or let the command search a file of documents (--corpus)."
)
#: What to do, by the reason why a question is left out, as experiments and file readers name it.
ADVICE: Final[Mapping[str, str | Promise]] = {
    "no right answer": _ANSWERS,
    "no gold answer": _ANSWERS,
    "no gold answer that the metric can score": "Choose a metric that can score these answers.",
    "no documents": _DOCUMENTS,
    "no document": _DOCUMENTS,
    "fewer than two documents": "Each question needs at least two documents to rank.",
    "no passages": "Import retrieved passages for the topics, or upload a file of questions.",
}


def why_none(experiment: Experiment, collection: Collection, parameters: Any) -> str:
    """Say why no question of a collection can take part, and what to do; "" if some can.

    Raises
    ------
    BadParameterError
        If the parameters exclude all questions.
    """
    if not collection.queries:
        sentences, reasons = ["There are no questions."], dict(collection.left_out)
        sentences += [f"Excluded: {_listed(reasons)}."] if reasons else []
        return " ".join([*sentences, *_do(reasons)])
    reasons = dict(experiment.left_out(collection, parameters)) if experiment.left_out else {}
    if sum(reasons.values()) < len(collection.queries):
        return ""
    none = f"All questions are excluded: {_listed(reasons)}."
    return " ".join([none, *_do(reasons)])


def _listed(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} ({n:,})" for reason, n in reasons.items())


def _do(reasons: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(str(ADVICE[reason]) for reason in reasons if reason in ADVICE))


#: Key of a run's summary: the estimated tokens from when it was planned.
EXPECTED = "expected"


@dataclass(frozen=True)
class ThroughputShare:
    """Shares of the estimated prompt and completion tokens that a run really used."""

    prompt: float
    completion: float


def seconds(speed: Speed, estimate: CostEstimate, share: ThroughputShare | None = None) -> float:
    """Probable duration of an estimate's prompts.

    Parameters
    ----------
    speed : Speed
    estimate : CostEstimate
        Its upper bound of completion tokens is scaled by the share that recent answers used of their limits.
    share : ThroughputShare, optional
        The shares of an earlier run; then nothing else is scaled.
    """
    likely = estimate.likely or estimate
    calls = estimate.calls * share.prompt if share else likely.calls
    if share is None:
        share = ThroughputShare(
            likely.prompt_tokens / max(estimate.prompt_tokens, 1), speed.written * _ratio(likely, estimate)
        )
    return speed.asks * speed.seconds(
        calls=calls,
        prompt_tokens=share.prompt * estimate.prompt_tokens,
        completion_tokens=share.completion * estimate.completion_tokens,
    )


def _ratio(likely: CostEstimate, estimate: CostEstimate) -> float:
    return likely.completion_tokens / max(estimate.completion_tokens, 1)


def expected(estimate: CostEstimate) -> dict[str, int]:
    """The part of an estimate that a run's summary keeps."""
    return {"prompt_tokens": estimate.prompt_tokens, "completion_tokens": estimate.completion_tokens}


def share_of_latest(kind: str, generator: str) -> ThroughputShare | None:
    """Shares of its estimate that the latest run of this kind with this generator used; None without such a run."""
    run = _done(kind, generator).filter(summary__has_key=EXPECTED).newest_first().first()
    if run is None:
        return None
    usage, most = run.summary["usage"], run.summary[EXPECTED]
    if not most["prompt_tokens"] or not most["completion_tokens"]:
        return None
    return ThroughputShare(
        usage["prompt_tokens"] / most["prompt_tokens"], usage["completion_tokens"] / most["completion_tokens"]
    )


def of_runs(kind: str, generator: str) -> Speed | None:
    """The speed of the latest run of this kind with this generator that made calls, including its other work.

    Stored answers took no time and do not count. None if there is no such run.
    """
    run = _done(kind, generator).filter(resumed_at__isnull=True).newest_first().first()
    if run is None or run.started_at is None or run.finished_at is None:
        return None
    usage = run.summary["usage"]
    share = usage["calls"] / (usage["calls"] + usage.get("stored", 0))
    tokens = share * (usage["prompt_tokens"] + usage["completion_tokens"])
    if tokens <= 0:
        return None
    seconds_per_token = (run.finished_at - run.started_at).total_seconds() / tokens
    return Speed(seconds_per_token, seconds_per_token)


def _done(kind: str, generator: str) -> RunQuerySet:
    return Run.objects.filter(
        kind=kind, state=RunState.DONE, parameters__generator=generator, summary__usage__calls__gt=0
    )


TABLES = "tables"


def plan(experiment: Experiment, run: Run) -> Iterable[dict[str, Any] | kinds.LaterUnit]:
    """Plan all units; the collection's digest becomes the run's inputs digest."""
    try:
        parameters = experiment.own_parameters(run.parameters)
        collection = question_sets.collection(
            run.parameters, run.study, seed=run.seed, folds=experiment.dividing(run.parameters)
        )
        nobody = why_none(experiment, collection, parameters)
    except (BadParameterError, question_sets.BadCollectionError) as error:
        raise _rejection(error) from error
    if nobody:
        raise kinds.InputRejectedError([{"message": nobody}])
    run.inputs_digest = question_sets.digest(collection)
    run.summary |= {"collection": collection.name, "queries": len(collection.queries)}
    with suppress(BadParameterError):  # reported when its units are planned
        run.summary[EXPECTED] = expected(experiment.estimate(collection, parameters))
    if collection.left_out:
        run.summary["left_out"] = dict(collection.left_out)
    later_units: list[dict[str, Any] | kinds.LaterUnit] = []
    try:
        for number, stage in enumerate(experiment.stages):
            units = stage.units(collection, parameters)
            later_units += [kinds.LaterUnit(number, {"stage": stage.name} | payload) for payload in units]
    except BadParameterError as error:  # the parameters do not fit these questions
        raise _rejection(error) from error
    return [*later_units, kinds.LaterUnit(len(experiment.stages), {"stage": TABLES})]


def wants_more(experiment: Experiment, unit: Unit) -> bool:
    """Whether another unit may begin beside this one: it waits for an endpoint, which takes more calls."""
    stage = next((stage for stage in experiment.stages if stage.name == unit.payload.get("stage")), None)
    return stage is not None and not stage.is_local and generators.takes_more(unit.run.parameters)


def work(experiment: Experiment, work: kinds.Work) -> Callable[[], None]:
    """Work on one unit; its effect stores the results."""
    run, name = work.run, work.unit.payload["stage"]
    try:
        context = StageContext(
            run=run,
            collection=question_sets.of_run(run, folds=experiment.dividing(run.parameters)),
            parameters=experiment.own_parameters(run.parameters),
            payload=work.unit.payload,
            make=partial(generator, run),
            reporter=work.report,
        )
        if name == TABLES:
            return _tabulate(experiment, context)
        stage = next(candidate for candidate in experiment.stages if candidate.name == name)
        context.report(0, 0, str(stage.title))
        with model_cache.looking(context.look):
            results = stage.work(context)
    except (BadParameterError, question_sets.BadCollectionError) as error:
        raise _rejection(error) from error
    return partial(_keep, context, {f"{name}:{key}": data for key, data in results.items()})


def _keep(context: StageContext, results: dict[str, Any]) -> None:
    unit_results.keep(context.run, results, usage=context.usage)
    _publish(context)


def _tabulate(experiment: Experiment, context: StageContext) -> Callable[[], None]:
    context.report(0, 0, "Tables")
    tables = experiment.compute(context)
    if unknown := sorted(set(tables) - set(experiment.table_names)):
        raise ValueError(f"{experiment.name} returned undeclared tables: {', '.join(unknown)}.")
    kept = {name: tables[name] for name in experiment.table_names if name in tables}
    return partial(_conclude, context, kept, experiment.table_names[0])


def _conclude(context: StageContext, tables: dict[str, Any], headline: str) -> None:
    run_tables.store(context.run, tables)
    _publish(context)
    run_facts = summary(tables, headline, unit_results.usage(context.run))
    lifecycle.note(run=context.run, summary=run_facts)


def _publish(context: StageContext) -> None:
    for name, path, media_type in context.files:
        run_files.publish_artifact(run=context.run, name=name, path=path, media_type=media_type)


def generator(run: Run, named: str = "") -> Generator:
    """Return a run's generator, or another one by name."""
    parameters = {"generator": named or run.parameters.get("generator")}
    return generators.generator(parameters, study=run.study, purpose=run.kind)


def problems(error: Exception) -> list[dict[str, Any]]:
    """The problems of an input, in the format that runs use."""
    return getattr(error, "problems", None) or [{"message": str(error)}]


def _rejection(error: Exception) -> kinds.InputRejectedError:
    return kinds.InputRejectedError(problems(error), is_final=isinstance(error, BadFileError))


def result_url(run: Run) -> str:
    """The URL of an experiment's run."""
    return reverse("experiment_result", args=[run.study.slug, run.key])


def register(experiment: Experiment) -> None:
    """Register the experiment's run kind."""
    kinds.register(
        kinds.Kind(
            name=experiment.kind,
            title=experiment.title,
            queue=experiment.queue,
            plan=partial(plan, experiment),
            work=partial(work, experiment),
            result_url=result_url,
            describe=partial(wording.parameters_in_words, experiment),
            wants_more=partial(wants_more, experiment),
            subjects=wording.run_subjects,
        )
    )


def size(experiment: Experiment, collection: Collection, parameters: Any) -> int:
    """The number of units of a run on this collection."""
    return 1 + sum(1 for stage in experiment.stages for _unit in stage.units(collection, parameters))
