"""The anchors of a study's leaderboard by dimension, its judges, and the votes on a new system, as arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db.models import Count, F, Q

from analysis.stats import sparse_bradley_terry
from analysis.stats.bradley_terry import NoComparisonsError
from analysis.stats.placement import Anchors, NewVotes, Prior
from analysis.stats.random_streams import named_rng
from analysis.stats.vote_model import Crowd, Scale, calibrate
from annotation.enums import Judges
from annotation.models import Judgment
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Study

from ..tables import run_tables
from ..tables.rows import Row
from ..tables.run_tables import ANALYSIS

#: A placement needs this many systems with a merit.
FEWEST_ANCHORS = 3
#: The dimension of all dimensions together, as in the leaderboard.
ALL = "all"
PARTICIPANT = "participant"
#: What is assumed of judges if no competence is known: the published mean (crowdrag25, 5.1).
USUAL_SPAM = 0.58
PEOPLE = (Judges.CROWD, Judges.EXPERT)
_OPTIONS = 3
#: Seconds for which the counts of votes on anchors are kept.
COUNTED_FOR = 3600

#: Numbers of votes by dimension, and by the systems of the left and the right response.
Counts = dict[str, dict[tuple[str, str], list[int]]]


@dataclass(frozen=True, eq=False)
class DimensionBoard:
    """What a leaderboard says on one dimension about everybody but the new system.

    Attributes
    ----------
    dimension : str
        Its name, or `all`.
    names : tuple of str
        The anchors.
    anchors : Anchors
    crowd : Crowd
    scale : Scale
    votes : NewVotes
        Of people, on pairs of the new system and an anchor.
    prior : Prior or None
        From the votes of model judges; None if they did not judge the new system and enough anchors.
    """

    dimension: str
    names: tuple[str, ...]
    anchors: Anchors
    crowd: Crowd
    scale: Scale
    votes: NewVotes
    prior: Prior | None


@dataclass(frozen=True)
class VoteOfPerson:
    """A person's vote on a pair of the new system."""

    judge: str
    topic: int
    anchor: str
    new_is_left: bool
    label: int


@dataclass(frozen=True, eq=False)
class StudyVotes:
    """The votes of a study that a placement needs, read once for all dimensions."""

    new: dict[str, list[VoteOfPerson]]
    people: Counts
    models: Counts
    #: By dimension and judge, how often a, n and b were chosen.
    by_judge: dict[str, dict[str, list[int]]]
    competence: dict[str, dict[str, tuple[float, int]]] = field(default_factory=dict)


def latest_run(study: Study) -> Run | None:
    """Return the latest finished analysis; None before the first."""
    return Run.objects.filter(study=study, kind=ANALYSIS, state=RunState.DONE).newest_first().first()


def anchor_rows(run: Run | None, system: str) -> dict[str, list[Row]]:
    """Return the leaderboard's rows of everybody but one system, by dimension, where there are enough of them."""
    by_dimension: dict[str, list[Row]] = defaultdict(list)
    for row in run_tables.read(run, "leaderboard")["leaderboard"] if run else ():
        if row["kind"] == PARTICIPANT and row["rank"] is not None and row["participant"] != system:
            by_dimension[row["dimension"]].append(row)
    return {name: rows for name, rows in by_dimension.items() if len(rows) >= FEWEST_ANCHORS}


def boards(study: Study, run: Run, system: Participant) -> list[DimensionBoard]:
    """Return what is known on each dimension, all dimensions together first; empty if there are too few anchors."""
    rows = anchor_rows(run, system.external_id)
    votes = _votes(study, run, system)
    names = sorted(rows, key=lambda name: (name != ALL, name))
    return [_board(name, rows[name], votes, system.external_id, run.seed) for name in names]


def _board(dimension: str, rows: list[Row], votes: StudyVotes, system: str, seed: int) -> DimensionBoard:
    names = tuple(row["participant"] for row in rows)
    merit, low, high = (
        np.array([np.nan if row[key] is None else row[key] for row in rows], dtype=np.float64)
        for key in ("merit", "low", "high")
    )
    anchors = Anchors.of_intervals(merit, low, high, rng=named_rng(seed, f"anchors {dimension}"))
    crowd = _crowd(dimension, votes)
    return DimensionBoard(
        dimension,
        names,
        anchors,
        crowd,
        _scale(dimension, names, merit, crowd, votes.people),
        _new_votes(dimension, names, votes),
        _prior(dimension, names, merit, system, votes.models),
    )


def _votes(study: Study, run: Run, system: Participant) -> StudyVotes:
    judgments = Judgment.objects.of_study(study).counted().pairwise()
    people = judgments.filter(item__campaign__judges__in=PEOPLE)
    is_new = Q(item__pair__a__participant=system) | Q(item__pair__b__participant=system)
    sides = {
        "dimension_name": F("dimension__name"),
        "left": F("item__pair__a__participant__external_id"),
        "right": F("item__pair__b__participant__external_id"),
    }
    new: dict[str, list[VoteOfPerson]] = defaultdict(list)
    columns = ("dimension_name", "left", "right", "assignment__participant__external_id", "item__topic", "value")
    for name, left, right, judge, topic, value in people.filter(is_new).values_list(
        *(sides.get(column, F(column)) for column in columns)
    ).order_by("pk"):  # fmt: skip
        is_left = left == system.external_id
        if left != right and value in (-1, 0, 1):
            vote = VoteOfPerson(judge, topic, right if is_left else left, is_left, value + 1)
            new[name].append(vote)
    models = judgments.filter(item__campaign__judges=Judges.MODEL, repeat=0)
    # The votes on the anchors are counted once for an analysis; an erasure marks it as stale.
    since = run.stale_at.timestamp() if run.stale_at else ""
    known_votes: tuple[Counts, dict[str, dict[str, list[int]]]] = cache.get_or_set(  # type: ignore[assignment]
        f"placement-{run.key}-{system.pk}-{since}",
        lambda: (_counts(people.exclude(is_new), sides), _counts_by_judge(people)),
        COUNTED_FOR,
    )
    competence: dict[str, dict[str, tuple[float, int]]] = defaultdict(dict)
    for row in run_tables.read(run, "competence")["competence"]:
        if row["spam_probability"] is not None:
            competence[row["dimension"]][row["participant"]] = (row["spam_probability"], row["judgments"])
    return StudyVotes(new, known_votes[0], _counts(models, sides), known_votes[1], competence)


def _counts(judgments: Any, sides: dict[str, F]) -> Counts:
    counts: Counts = {}
    rows = judgments.values_list(*sides.values(), "value").annotate(n=Count("pk")).order_by()
    for name, left, right, value, n in rows:
        if left != right and value in (-1, 0, 1):
            counts.setdefault(name, {}).setdefault((left, right), [0] * _OPTIONS)[value + 1] += n
    return counts


def _counts_by_judge(judgments: Any) -> dict[str, dict[str, list[int]]]:
    counts: dict[str, dict[str, list[int]]] = {}
    rows = judgments.values_list("dimension__name", "assignment__participant__external_id", "value")
    for name, judge, value, n in rows.annotate(n=Count("pk")).order_by():
        if value in (-1, 0, 1):
            counts.setdefault(name, {}).setdefault(judge, [0] * _OPTIONS)[value + 1] += n
    return counts


def _of_dimension(dimension: str, by_name: dict[str, Any]) -> Iterator[Any]:
    """Yield what belongs to a dimension: for all dimensions together, that of each."""
    yield from by_name.values() if dimension == ALL else filter(None, [by_name.get(dimension)])


def _crowd(dimension: str, votes: StudyVotes) -> Crowd:
    """Return the kinds of judges; strategies are what votes leave after true labels that lean to no side."""
    spam, strategy, judged = [], [], []
    for name in votes.by_judge if dimension == ALL else [dimension]:
        shares = votes.by_judge.get(name, {})
        whole = np.array(list(shares.values()) or [[1, 0, 1]], dtype=np.float64).sum(axis=0)
        whole = (whole + whole[::-1]) / (2 * whole.sum())
        for judge, (e, n) in votes.competence.get(name, {}).items():
            counts = np.array(shares.get(judge, [1, 1, 1]), dtype=np.float64) + 1.0
            left = np.maximum(counts / counts.sum() - (1.0 - e) * whole, 0.01)
            spam.append(e)
            strategy.append(left / left.sum())
            judged.append(n)
    if not sum(judged):
        return Crowd(np.array([USUAL_SPAM]), np.full((1, _OPTIONS), 1 / _OPTIONS), np.ones(1))
    return Crowd.of_judges(spam, np.array(strategy), judgments=judged)


def _scale(dimension: str, names: tuple[str, ...], merit: Any, crowd: Crowd, people: Counts) -> Scale:
    index = {name: number for number, name in enumerate(names)}
    totals: dict[tuple[int, int], Any] = defaultdict(lambda: np.zeros(_OPTIONS))
    for counts in _of_dimension(dimension, people):
        for (left, right), n in counts.items():
            if left in index and right in index:
                totals[index[left], index[right]] += n
    lead = np.array([merit[left] - merit[right] for left, right in totals])
    return calibrate(lead, np.array(list(totals.values())).reshape(-1, _OPTIONS), crowd)


def _new_votes(dimension: str, names: tuple[str, ...], votes: StudyVotes) -> NewVotes:
    index = {name: number for number, name in enumerate(names)}
    kept = [vote for part in _of_dimension(dimension, votes.new) for vote in part if vote.anchor in index]
    judges = sorted({vote.judge for vote in kept})
    topics = sorted({vote.topic for vote in kept})
    known = [_known(dimension, judge, votes) for judge in judges]
    return NewVotes(
        anchor=np.array([index[vote.anchor] for vote in kept], dtype=np.int64),
        new_is_left=np.array([vote.new_is_left for vote in kept], dtype=bool),
        label=np.array([vote.label for vote in kept], dtype=np.int64),
        judge=np.searchsorted(judges, [vote.judge for vote in kept]) if kept else np.zeros(0, dtype=np.int64),
        topic=np.searchsorted(topics, [vote.topic for vote in kept]) if kept else np.zeros(0, dtype=np.int64),
        spam=np.array([spam for spam, _n in known], dtype=np.float64),
        experience=np.array([n for _spam, n in known], dtype=np.float64),
    )


def _known(dimension: str, judge: str, votes: StudyVotes) -> tuple[float, float]:
    """Return a judge's spam probability and the judgments it rests on; NaN and 0 if the analysis did not know them."""
    known = [part[judge] for part in _of_dimension(dimension, votes.competence) if judge in part]
    if not known:
        return float("nan"), 0.0
    return float(np.mean([spam for spam, _n in known])), float(np.mean([n for _spam, n in known]))


def _prior(dimension: str, names: tuple[str, ...], merit: Any, system: str, models: Counts) -> Prior | None:
    everybody = [*names, system]
    index = {name: number for number, name in enumerate(everybody)}
    first, second, outcome, weight = [], [], [], []
    for counts in _of_dimension(dimension, models):
        for (left, right), numbers in counts.items():
            if left in index and right in index:
                for label, n in enumerate(numbers):
                    first.append(index[left])
                    second.append(index[right])
                    outcome.append(label - 1)
                    weight.append(n)
    try:
        met = sparse_bradley_terry.meetings(first, second, len(everybody))
    except NoComparisonsError:
        return None
    fitted = sparse_bradley_terry.fit(met, *sparse_bradley_terry.add_up(met, outcome, weight)).merit[:, 0]
    return Prior.of_model(merit, fitted[:-1], float(fitted[-1]))
