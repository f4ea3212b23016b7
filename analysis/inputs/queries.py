"""Reading of a study's valid judgments into arrays.

Judgments come as columns (`judgment_columns`), so that none of them is a Python object. They are read as of one
moment; topics, dimensions and texts never change.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Exists, Min, OuterRef, Q, Sum
from numpy.typing import NDArray

from annotation.campaign_types.registry import of_pairs
from annotation.enums import CampaignKind, Inference, Judges
from annotation.models import (
    Assignment,
    Campaign,
    CampaignDimension,
    Dimension,
    Item,
    Judgment,
    JudgmentSums,
    KnownLabel,
    PlatformSubmission,
    QuestionnaireItem,
)
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study

from . import arrays, judge_models, judgment_columns, snapshots, wages
from . import responses as inputs_responses
from .arrays import COMBINED, EXPERT, INDIVIDUAL, POINTWISE
from .judgment_columns import Judgments, Rows, read


class NothingToAnalyseError(Exception):
    """The study has neither valid responses nor valid judgments."""

    def __init__(self) -> None:
        super().__init__(
            "This study has no included responses and no accepted and included judgments. Import or collect "
            "some, then analyse again."
        )


@dataclass(frozen=True)
class _Item:
    """What was judged: the sides of a pair or a pointwise item, and the number of requested votes."""

    left: str | None
    right: str | None
    topic: str
    name: str
    campaign: int
    k: int


def load(study: Study, *, pool: str = Judges.CROWD) -> arrays.Inputs:
    """Read the inputs of an analysis of this pool; the pool is empty if nobody has judged yet.

    Judgments that no run has read before are kept in columns for the next run.

    Raises
    ------
    NothingToAnalyseError
        If there are neither valid responses nor valid judgments.
    """
    campaigns = _campaigns(study, pool)
    with snapshots.one_moment():
        judgments, renewal = judgment_columns.load(study, campaigns)
    judgment_columns.keep(study, renewal)
    return _inputs(study, pool, campaigns, judgments)


def _inputs(study: Study, pool: str, campaigns: dict[int, str], judgments: Judgments) -> arrays.Inputs:
    items = _items(campaigns)
    main = pool.lower()
    names = tuple(dict.fromkeys((main, EXPERT, POINTWISE, COMBINED, INDIVIDUAL)))
    chosen_by_pool = _pools(judgments, campaigns, items, names)
    wrote = inputs_responses.load_responses(study)
    if not chosen_by_pool and not wrote.responses:
        raise NothingToAnalyseError
    chosen_by_pool.setdefault(main, np.empty(0, dtype=np.int64))
    responses = wrote.responses
    dimensions, index_by_pool = _dimensions(campaigns, judgments, chosen_by_pool)
    context = _Context(
        judgments=judgments,
        items=items,
        participants=dict(Participant.objects.filter(study=study).values_list("id", "external_id")),
        dimensions=dimensions,
        responses={response.name: i for i, response in enumerate(responses)},
        topics=_topics(responses, items),
        positions=_positions(campaigns),
        known=_known(campaigns),
    )
    pools = {name: _pool(chosen, index_by_pool[name], context) for name, chosen in chosen_by_pool.items()}
    return arrays.Inputs(
        pool=main,
        topics=tuple(context.topics),
        styles=tuple(sorted({response.style for response in responses})),
        dimensions=tuple(dimensions),
        responses=responses,
        pools=pools,
        counts=_counts(study) | _questionnaires(study, pool),
        seconds=_seconds(study, pool),
        simulated=Campaign.objects.filter(study=study, judges=pool, is_simulated=True).exists(),
        passages=wrote.passages,
        rankings=wrote.rankings,
        answers=wrote.answers,
        processes=inputs_responses.load_log_measures(study, responses),
        wages=wages.load(study, pool, responses),
        language=study.language,
        currency=study.currency,
        models=_models(study, responses, pools),
        judges=judge_models.load(
            study,
            {name for pool in (COMBINED, INDIVIDUAL) if pool in pools for name in pools[pool].participants},
            context.topics,
        ),
    )


@dataclass(frozen=True)
class _Context:
    """Judgments, names and indices that all pools share."""

    judgments: Judgments
    items: dict[int, _Item]
    participants: dict[int, str]
    dimensions: list[arrays.Dimension]
    responses: dict[str, int]
    topics: dict[str, int]
    positions: "_Positions"
    known: dict[int, list[tuple[int, int]]]


def default_pool(study: Study) -> str:
    """Return whose judgments to analyse if nobody said: the first of crowd, experts and models who judged pairs."""
    counted = Judgment.objects.of_study(study).counted().filter(item__campaign=OuterRef("pk"))
    campaigns = Campaign.objects.filter(of_pairs(), study=study)
    judges = set(campaigns.filter(Exists(counted)).values_list("judges", flat=True))
    return next((pool for pool in (Judges.CROWD, Judges.EXPERT, Judges.MODEL) if pool in judges), Judges.CROWD).value


def _campaigns(study: Study, pool: str) -> dict[int, str]:
    """Return the pool of each campaign's judgments; campaigns of other pools are left out."""
    pools = {}
    model_pools = {Inference.COMBINED.value: COMBINED, Inference.INDIVIDUAL.value: INDIVIDUAL}
    columns = ("id", "kind", "judges", "inference")
    campaigns = Campaign.objects.filter(of_pairs() | Q(kind=CampaignKind.POINTWISE), study=study)
    for pk, kind, judges, inference in campaigns.values_list(*columns):
        if kind == CampaignKind.POINTWISE:
            if judges == Judges.CROWD:
                pools[pk] = POINTWISE
        elif judges in (pool, Judges.EXPERT):
            pools[pk] = judges.lower()
        elif judges == Judges.MODEL:
            pools[pk] = model_pools[inference]
    return pools


def _pools(
    judgments: Judgments, campaigns: dict[int, str], items: dict[int, _Item], names: tuple[str, ...]
) -> dict[str, NDArray[np.int64]]:
    """Return the indices of each pool's judgments; those of items with excluded responses are left out."""
    pool_of_item = np.full(len(judgments.items), -1, dtype=np.int8)
    for ordinal, pk in enumerate(judgments.items.tolist()):
        if pk in items:
            pool_of_item[ordinal] = names.index(campaigns[items[pk].campaign])
    pool = pool_of_item[judgments.item]
    matches = {name: np.flatnonzero(pool == number) for number, name in enumerate(names)}
    return {name: chosen for name, chosen in matches.items() if len(chosen)}


def _items(campaigns: dict[int, str]) -> dict[int, _Item]:
    """Return the items whose responses are included, by primary key."""
    items = Item.objects.filter(campaign__in=campaigns)
    items = items.exclude(pair__a__is_included=False).exclude(pair__b__is_included=False)
    items = items.exclude(response__is_included=False)
    columns = ("id", "pair__a__external_id", "pair__b__external_id", "response__external_id", "external_id",
               "topic__external_id", "campaign_id", "campaign__k")  # fmt: skip
    return {
        pk: _Item(left or response, right, topic, "" if left or response else name, campaign, k)
        for pk, left, right, response, name, topic, campaign, k in items.values_list(*columns)
    }


def _dimensions(
    campaigns: dict[int, str], judgments: Judgments, chosen_by_pool: dict[str, NDArray[np.int64]]
) -> tuple[list[arrays.Dimension], dict[str, dict[int, int]]]:
    """Return the judged dimensions in questionnaire order, and by pool the index of each version.

    Pools share a dimension's name even if they use other options (pointwise) or another version. Within a pool, a
    second version is a different question, and has the version in its name.
    """
    campaign_dimensions = CampaignDimension.objects.filter(campaign__in=campaigns).values("dimension")
    position = dict(campaign_dimensions.annotate(first=Min("position")).values_list("dimension", "first"))
    judged = {
        name: set(judgments.dimensions[_in_use(judgments.dimension[chosen], len(judgments.dimensions))[0]].tolist())
        for name, chosen in chosen_by_pool.items()
    }
    versions = Dimension.objects.filter(id__in=set().union(*judged.values()))
    ordered = sorted(
        versions.values_list("id", "name", "version", "label", "options"),
        key=lambda row: (position.get(row[0], len(position)), row[1], row[2]),
    )
    dimensions: dict[arrays.Dimension, int] = {}
    index_by_pool: dict[str, dict[int, int]] = {name: {} for name in chosen_by_pool}
    for pool, present in judged.items():
        taken = set()
        for pk, name, version, label, options in ordered:
            if pk in present:
                suffix = f" v{version}" if name in taken else ""
                taken.add(name)
                values = tuple(sorted(option["value"] for option in options))
                dimension = arrays.Dimension(name + suffix, label + suffix, values)
                index_by_pool[pool][pk] = dimensions.setdefault(dimension, len(dimensions))
    return list(dimensions), index_by_pool


def _topics(responses: tuple[arrays.Response, ...], items: dict[int, _Item]) -> dict[str, int]:
    names = {response.topic for response in responses} | {item.topic for item in items.values()}
    return {name: i for i, name in enumerate(sorted(names))}


@dataclass(frozen=True, eq=False)
class _Positions:
    """Positions of items in questionnaires: sorted rows of questionnaire, item and position."""

    rows: Rows

    def of(
        self,
        questionnaires: NDArray[np.int64],
        items: NDArray[np.int64],
        questionnaire: NDArray[np.int64],
        item: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """Return the position of each judgment's item; 0 if its questionnaire does not contain it.

        `questionnaire` and `item` are indices in primary keys, of which those of the items are ascending.
        """
        distinct, ordinal = np.unique(questionnaires, return_inverse=True)
        held = np.isin(self.rows["item"], items) & np.isin(self.rows["questionnaire"], distinct)
        rows = self.rows[held]
        if not len(rows):
            return np.zeros(len(item), dtype=np.int64)
        # Renumbered, so that a questionnaire and an item can be combined into one number.
        keys = np.searchsorted(distinct, rows["questionnaire"]) * len(items) + np.searchsorted(items, rows["item"])
        sought = ordinal[questionnaire] * len(items) + item
        matches = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
        return np.where(keys[matches] == sought, rows["position"][matches], 0)


def _positions(campaigns: dict[int, str]) -> _Positions:
    """Return positions by questionnaire and item, from 1 also for campaigns that count from 0."""
    entries = QuestionnaireItem.objects.filter(questionnaire__campaign__in=campaigns)
    from_0 = list(entries.filter(position=0).values_list("questionnaire__campaign", flat=True).distinct())
    fields = {"questionnaire": "questionnaire_id", "item": "item_id", "position": "position",
              "campaign": "questionnaire__campaign"}  # fmt: skip
    rows = read(entries, fields)
    rows["position"] += np.isin(rows["campaign"], np.array(from_0, dtype=np.int64))
    return _Positions(rows[np.lexsort((rows["item"], rows["questionnaire"]))])


def _models(
    study: Study, responses: tuple[arrays.Response, ...], pools: dict[str, arrays.Pool]
) -> tuple[tuple[str, str], ...]:
    """Return the language models that wrote or judged, each with its model name."""
    names = {response.participant for response in responses if response.origin == "model"}
    names |= {name for pool in (COMBINED, INDIVIDUAL) if pool in pools for name in pools[pool].participants}
    models = Participant.objects.filter(study=study).of_kind(ParticipantKind.MODEL)
    named = models.values_list("external_id", "specification__model")
    return tuple(sorted((name, str(model or name)) for name, model in named if name in names))


def _pool(chosen: NDArray[np.int64], dimension_index: dict[int, int], context: _Context) -> arrays.Pool:
    """Return some judgments sorted by names, with votes numbered from 0 within unit and dimension."""
    judgments = context.judgments
    item_places, item_place = _in_use(judgments.item[chosen], len(judgments.items))
    item_pks = judgments.items[item_places].tolist()
    units_of_items = [_unit(context.items[pk], context) for pk in item_pks]
    units = sorted(set(units_of_items), key=lambda unit: (unit[2], *unit))
    unit_place = {unit: i for i, unit in enumerate(units)}
    unit = np.array([unit_place[item_unit] for item_unit in units_of_items], dtype=np.int64)[item_place]
    assignments, assignment = _in_use(judgments.assignment[chosen], len(judgments.assignments))
    taken = judgments.assignments[assignments]
    coder_pks, coder_place = np.unique(taken["coder"], return_inverse=True)
    names = [context.participants[pk] for pk in coder_pks.tolist()]
    order = sorted(range(len(names)), key=lambda i: (names[i], coder_pks[i]))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    coder = rank[coder_place][assignment]
    dimension, value = _answers(chosen, dimension_index, context)

    # Number the votes in the order in which questionnaires and their assignments were created.
    created = np.empty(len(taken), dtype=np.int64)
    created[np.lexsort((taken["assignment"], taken["questionnaire"]))] = np.arange(len(taken))
    came = np.argsort((dimension * len(units) + unit) * len(taken) + created[assignment], kind="stable")
    kept = came[_first_of_each(((dimension * len(units) + unit) * len(names) + coder)[came])]
    start = np.r_[True, (np.diff(dimension[kept]) != 0) | (np.diff(unit[kept]) != 0)][: len(kept)]
    begun = np.maximum.accumulate(np.where(start, np.arange(len(kept)), 0))
    k = np.array([context.items[pk].k for pk in item_pks], dtype=np.int64)
    return arrays.Pool(
        participants=tuple(names[i] for i in order),
        units=tuple(units),
        unit=unit[kept],
        coder=coder[kept],
        dimension=dimension[kept],
        value=value[kept],
        vote=np.arange(len(kept)) - begun,
        k=k[item_place[kept]],
        position=context.positions.of(
            taken["questionnaire"], judgments.items[item_places], assignment[kept], item_place[kept]
        ),
        row=judgments.row[chosen[kept]],
        repeated=len(came) - len(kept),
        known=_known_units(
            {pk: unit_place[item_unit] for pk, item_unit in zip(item_pks, units_of_items, strict=True)},
            dimension_index,
            context,
        ),
    )


def _in_use(index: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers below `size` that occur, ascending, and the place of each entry among them."""
    used = np.bincount(index, minlength=size) > 0
    return np.flatnonzero(used), (np.cumsum(used) - 1)[index]


def _first_of_each(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices at which a number occurs for the first time, ascending."""
    order = np.argsort(keys, kind="stable")
    firsts = order[np.diff(keys[order], prepend=-1) != 0]
    return np.sort(firsts)


def _known(campaigns: dict[int, str]) -> dict[int, list[tuple[int, int]]]:
    """Return the known labels of gold items: dimension and value, by primary key."""
    gold = QuestionnaireItem.objects.filter(questionnaire__campaign__in=campaigns, has_known_label=True).values("item")
    labels: dict[int, list[tuple[int, int]]] = {}
    rows = KnownLabel.objects.filter(item__in=gold).values_list("item_id", "dimension_id", "value")
    for item, dimension, value in rows:
        labels.setdefault(item, []).append((dimension, value))
    return labels


def _known_units(
    unit: dict[int, int], dimension_index: dict[int, int], context: _Context
) -> tuple[tuple[int, int, int], ...]:
    """Return known labels by unit, dimension and index of the value; none if two campaigns contradict each other."""
    candidates: dict[tuple[int, int], set[int]] = {}
    for item, labels in context.known.items():
        for dimension, value in labels:
            if item in unit and dimension in dimension_index:
                domain = context.dimensions[dimension_index[dimension]].domain
                if value in domain:
                    candidates.setdefault((unit[item], dimension_index[dimension]), set()).add(domain.index(value))
    sure = {key: values.pop() for key, values in candidates.items() if len(values) == 1}
    return tuple(sorted((where, dimension, value) for (where, dimension), value in sure.items()))


def _unit(item: _Item, context: _Context) -> tuple[int, int, int, str]:
    left = -1 if item.left is None else context.responses[item.left]
    right = -1 if item.right is None else context.responses[item.right]
    return left, right, context.topics[item.topic], item.name


def _answers(
    chosen: NDArray[np.int64], dimension_index: dict[int, int], context: _Context
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the index of each judgment's dimension, and of its value among the dimension's values."""
    judgments = context.judgments
    code, answer = judgments.dimension[chosen], judgments.value[chosen]
    dimension = np.zeros(len(chosen), dtype=np.int64)
    value = np.zeros(len(chosen), dtype=np.int64)
    for pk, where in dimension_index.items():
        here = code == np.searchsorted(judgments.dimensions, pk)
        dimension[here] = where
        value[here] = np.searchsorted(context.dimensions[where].domain, answer[here])
    return dimension, value


def _counts(study: Study) -> dict[str, int]:
    """Return the number of valid judgments by kind of judges."""
    analysed = of_pairs("campaign__") | Q(campaign__kind=CampaignKind.POINTWISE)
    sums = JudgmentSums.objects.filter(analysed, campaign__study=study).counted().order_by()
    by = ("campaign__judges", "campaign__kind")
    counts: Counter[str] = Counter()
    for judges, kind, n in sums.values(*by).annotate(n=Sum("judgments")).filter(n__gt=0).values_list(*by, "n"):
        counts[POINTWISE if kind == CampaignKind.POINTWISE else judges.lower()] += n
    return dict(sorted(counts.items()))


def _questionnaires(study: Study, pool: str) -> dict[str, int]:
    """Return the number of valid, answered questionnaires of pairs of a pool."""
    campaigns = Campaign.objects.filter(of_pairs(), study=study, judges=pool)
    return {"questionnaires": Assignment.objects.counted().filter(questionnaire__campaign__in=campaigns).count()}


def _seconds(study: Study, pool: str) -> tuple[float, ...]:
    """Return the durations of the pool's valid questionnaires, ascending; otherwise those from the platform."""
    campaigns = Campaign.objects.filter(of_pairs(), study=study, judges=pool)
    taken = Assignment.objects.counted().filter(questionnaire__campaign__in=campaigns, seconds__isnull=False)
    durations = list(taken.values_list("seconds", flat=True))
    if not durations:
        submissions = PlatformSubmission.objects.filter(campaign__in=campaigns, seconds__isnull=False)
        durations = list(submissions.values_list("seconds", flat=True))
    return tuple(sorted(float(seconds or 0) for seconds in durations))
