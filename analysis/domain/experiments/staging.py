"""An experiment as a kind of run: units of each stage, then one that makes the tables of all that was found."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from analysis.rag.generation import warm
from analysis.rag.shapes import Collection, Generator
from crowdrag.jobs import kinds, lifecycle, run_files
from crowdrag.jobs.models import Run

from ...models import Table
from . import collecting, concluding, findings, generating, pacing, partaking, telling
from .experiment import BadParameterError, Experiment
from .job import Job
from .reading import BadFileError

TABLES = "tables"


def plan(experiment: Experiment, run: Run) -> Iterable[dict[str, Any] | kinds.LaterUnit]:
    """Plan all units; the collection's digest becomes the run's."""
    try:
        own = experiment.own(run.parameters)
        collection = collecting.collection(
            run.parameters, run.study, seed=run.seed, folds=experiment.dividing(run.parameters)
        )
        nobody = partaking.nobody(experiment, collection, own)
    except (BadParameterError, collecting.BadCollectionError) as error:
        raise _rejection(error) from error
    if nobody:
        raise kinds.InputRejectedError([{"message": nobody}])
    run.inputs_digest = collecting.digest(collection)
    run.summary |= {"collection": collection.name, "queries": len(collection.queries)}
    with suppress(BadParameterError):  # said where its units are planned
        run.summary[pacing.EXPECTED] = pacing.expected(experiment.estimate(collection, own))
    if collection.left_out:
        run.summary["left_out"] = dict(collection.left_out)
    found: list[dict[str, Any] | kinds.LaterUnit] = []
    try:
        for number, stage in enumerate(experiment.stages):
            units = stage.units(collection, own)
            found += [kinds.LaterUnit(number, {"stage": stage.name} | payload) for payload in units]
    except BadParameterError as error:  # the parameters do not go with these questions
        raise _rejection(error) from error
    return [*found, kinds.LaterUnit(len(experiment.stages), {"stage": TABLES})]


def work(experiment: Experiment, work: kinds.Work) -> Callable[[], None]:
    """Work on one unit: what it found is kept in its effect."""
    run, name = work.run, work.unit.payload["stage"]
    try:
        job = Job(
            run=run,
            collection=collecting.of_run(run, folds=experiment.dividing(run.parameters)),
            parameters=experiment.own(run.parameters),
            payload=work.unit.payload,
            make=partial(generator, run),
            reporter=work.report,
        )
        if name == TABLES:
            return _tabulate(experiment, job)
        stage = next(each for each in experiment.stages if each.name == name)
        job.report(0, 0, str(stage.title))
        with warm.looking(job.look):
            found = stage.work(job)
    except (BadParameterError, collecting.BadCollectionError) as error:
        raise _rejection(error) from error
    return partial(_keep, job, {f"{name}:{key}": data for key, data in found.items()})


def _keep(job: Job, found: dict[str, Any]) -> None:
    findings.keep(job.run, found, usage=job.usage)
    _publish(job)


def _tabulate(experiment: Experiment, job: Job) -> Callable[[], None]:
    job.report(0, 0, _("Tables"))
    made = experiment.tables(job)
    if unknown := sorted(set(made) - set(experiment.table_names)):
        raise ValueError(f"{experiment.name} makes tables that it does not name: {', '.join(unknown)}.")
    kept = {name: made[name] for name in experiment.table_names if name in made}
    return partial(_conclude, job, kept, experiment.table_names[0])


def _conclude(job: Job, made: dict[str, Any], headline: str) -> None:
    Table.objects.bulk_create(Table(run=job.run, name=name, rows=rows) for name, rows in made.items())
    _publish(job)
    found = concluding.summary(made, headline, findings.usage(job.run))
    lifecycle.note(run=job.run, summary=found)


def _publish(job: Job) -> None:
    for name, path, media_type in job.files:
        run_files.publish_artifact(run=job.run, name=name, path=path, media_type=media_type)


def generator(run: Run, named: str = "") -> Generator:
    """Make a generator of a run: its own, or another one by name."""
    parameters = {"generator": named or run.parameters.get("generator")}
    return generating.generator(parameters, study=run.study, purpose=run.kind)


def problems(error: Exception) -> list[dict[str, Any]]:
    """What is wrong with an input, as a run shows it."""
    return getattr(error, "problems", None) or [{"message": str(error)}]


def _rejection(error: Exception) -> kinds.InputRejectedError:
    return kinds.InputRejectedError(problems(error), is_final=isinstance(error, BadFileError))


def result_url(run: Run) -> str:
    """Where an experiment's run is read."""
    return reverse("experiment_result", args=[run.study.slug, run.key])


def register(experiment: Experiment) -> None:
    """Make the experiment's runs known."""
    kinds.register(
        kinds.Kind(
            name=experiment.kind,
            title=experiment.title,
            queue=experiment.queue,
            plan=partial(plan, experiment),
            work=partial(work, experiment),
            result_url=result_url,
            told=partial(telling.told, experiment),
        )
    )


def size(experiment: Experiment, collection: Collection, own: Any) -> int:
    """How many units a run of this collection has."""
    return 1 + sum(1 for stage in experiment.stages for _unit in stage.units(collection, own))
