"""A study's analyses: summary of the latest, reports, list, and comparison."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.urls import reverse

from analysis.enums import Coders, Split
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.checklist import Action, Progress, StepPart
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..inputs import snapshots as inputs_snapshots
from ..inputs.models import Snapshot
from ..methods.leaderboard import queries as leaderboard_queries
from ..methods.settings import PARAMETERS, AnalysisSettings
from ..reports import report_page
from ..tables import run_tables
from ..tables.rows import Row
from . import services as analyses_services
from .services import KIND

LEADERS_SHOWN = 5


def study_card(study: Study) -> dict[str, Any] | None:
    """Return the summary card: the top of the leaderboard and the mean agreement; None before an analysis."""
    runs = Run.objects.filter(study=study, kind=KIND)
    run = runs.filter(state=RunState.DONE).newest_first().first()
    active = runs.active().newest_first().first()
    if run is None:
        return None if active is None else {"run": None, "active": active}
    tables = run_tables.read(run, "agreement_means", "leaderboard")
    means = tables["agreement_means"]
    complete = [
        row for row in means if row["split"] == Split.COMPLETE and not row["coders"].startswith(Coders.POINTWISE)
    ]
    named = [row | {"coders_label": Coders(row["coders"]).label} for row in complete]
    leaders = leaderboard_queries.best(tables["leaderboard"], LEADERS_SHOWN)
    return {"run": run, "active": active, "means": named, "leaders": leaders, "summary": run.summary}


def analysis_part(study: Study) -> StepPart:
    """Return whether the judgments are analysed, for the study's checklist."""
    state = analyses_services.state(study)
    address = reverse("leaderboard", args=[study.slug])
    if state.newer is not None and state.newer.is_active:
        progress = Action("See the progress", reverse("run", args=[study.slug, state.newer.key]), Role.VIEWER)
        return StepPart("An analysis is running", Progress.STARTED, progress)
    if state.run is None:
        has_data = bool(state.judgments or state.responses)
        return StepPart("Not analysed yet", Progress.TO_DO, Action("Analyse", address) if has_data else None)
    if state.changed or state.run.stale_at or (state.judgments and not state.run.summary.get("judgments")):
        return StepPart("Data changed since the last analysis", Progress.STARTED, Action("Analyse again", address))
    if not state.run.summary.get("judgments"):
        return StepPart(
            "Texts analysed, no judgments yet", Progress.TO_DO, url=reverse("writing_results", args=[study.slug])
        )
    return StepPart("Up to date", Progress.DONE, url=address)


ANALYSES_PER_PAGE = 25
MOST_CHOICES = 200
#: Number of leaderboard rows of two analyses shown side by side.
MOST_COMPARED = 50
DEFAULTS = AnalysisSettings().write()


@dataclass(frozen=True)
class ListedAnalysis:
    """A finished analysis in the list.

    Attributes
    ----------
    judgments, surplus : int
        Numbers of valid and of surplus judgments.
    parameters : list of (str, str)
        Parameters that differ from the defaults, in words.
    is_current : bool
        Whether the valid judgments are still those that it used.
    """

    run: Run
    snapshot: Snapshot
    judgments: int
    surplus: int
    parameters: list[tuple[str, str]]
    is_current: bool


def report(run: Run, *, part: str) -> dict[str, Any]:
    """Return the context of a report's page for one of its parts."""
    return report_page.context(run, part=part)


def analyses(study: Study, *, page: str | None) -> dict[str, Any]:
    """Return the finished analyses of a study, the latest first."""
    shown = Paginator(_finished(study), ANALYSES_PER_PAGE).get_page(page)
    snapshots = {
        snapshot.run_id: snapshot for snapshot in Snapshot.objects.defer("payload").filter(run__in=list(shown))
    }
    now = inputs_snapshots.inputs_fingerprint(study)
    rows = [
        ListedAnalysis(
            run=run,
            snapshot=snapshots[run.pk],
            judgments=(counted := run.summary.get("judgments", snapshots[run.pk].judgments)),
            surplus=max(snapshots[run.pk].judgments - counted, 0),
            parameters=changed_parameters(run),
            is_current=not run.stale_at and snapshots[run.pk].mark == now,
        )
        for run in shown
    ]
    return {"page": shown, "rows": rows}


def changed_parameters(run: Run) -> list[tuple[str, str]]:
    """Return the parameters of a run that differ from the defaults, in words."""
    return [
        (str(PARAMETERS[name].label), PARAMETERS[name].in_words(value))
        for name, value in run.parameters.items()
        if name in DEFAULTS and DEFAULTS[name] != value
    ]


def choices(study: Study) -> list[Run]:
    """Return the analyses available for comparison, the latest first."""
    return list(_finished(study)[:MOST_CHOICES])


def _finished(study: Study) -> Any:
    runs = Run.objects.filter(study=study, kind=KIND, state=RunState.DONE)
    return runs.select_related("study", "created_by").newest_first()


@dataclass(frozen=True)
class LeaderboardChange:
    """A participant's place on the overall leaderboard in two analyses; None if only in one of them."""

    participant: str
    old: Row | None
    new: Row | None

    @property
    def merit_difference(self) -> float | None:
        """New merit minus old merit."""
        return None if self.old is None or self.new is None else self.new["merit"] - self.old["merit"]


def compare_leaderboards(old: Run, new: Run) -> list[LeaderboardChange]:
    """Compare the ranks in two analyses, in the order of the new one; participants missing there come last."""
    before, after = (
        {row["participant"]: row for row in leaderboard_queries.best(_leaderboard(run), MOST_COMPARED)}
        for run in (old, new)
    )
    return [LeaderboardChange(name, before.get(name), after.get(name)) for name in dict.fromkeys([*after, *before])]


def _leaderboard(run: Run) -> list[Row]:
    return run_tables.read(run, "leaderboard")["leaderboard"] if "leaderboard" in run_tables.names(run) else []
