"""Model-assisted estimates of a crowd and a model of which everything is known."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.inputs.arrays import COMBINED, Dimension, Inputs, Pool, Response
from analysis.methods.assisted_estimates import board_statistics, scored_pairs
from analysis.methods.assisted_estimates.compute import compute_tables
from analysis.methods.assisted_estimates.tables import TABLES
from analysis.methods.context import Context
from analysis.methods.fits import fit
from analysis.methods.grades import compute as grades
from analysis.methods.leaderboard import compute as leaderboard
from analysis.methods.leaderboard.boards import boards
from analysis.methods.settings import AnalysisSettings
from tests.analysis import small_study
from tests.analysis.page_visits import visit
from tests.analysis.rows import row_of

TOPICS, JUDGED, VOTES = 60, 24, 3
PAIRS = [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)]
WRITERS = ("model-a", "model-b", "person-a", "person-b")
SETTINGS = AnalysisSettings(resamples=10, restarts=2, refine=0, labels="likeliest")


def inputs(rng, *, errors=0.2, own=0.0, by_people=None, by_model=None):
    """Four responses a topic, all pairs judged by the model, those of the first topics by three people each.

    The model errs on the share `errors` of the pairs, and prefers the first writer on the share `own`. `by_people` and
    `by_model` choose other pairs, from topics and places within topics.
    """
    responses = tuple(
        Response(f"t{t:02}-{r}", f"t{t:02}", "essay", "human" if "person" in writer else "model", writer, 100)
        for t in range(TOPICS)
        for r, writer in enumerate(WRITERS)
    )
    units = tuple((4 * t + a, 4 * t + b, t, "") for t in range(TOPICS) for a, b in PAIRS)
    left, right, topic = np.array([unit[:3] for unit in units]).T
    place = np.tile(np.arange(len(PAIRS)), TOPICS)
    merit = rng.normal(size=len(responses)) + np.tile([0.9, 0.3, 0.0, -0.3], TOPICS)
    lead = merit[left] - merit[right]
    truth = np.where(lead > 0.2, 0, np.where(lead < -0.2, 2, 1))
    n = len(units)
    says = np.where(rng.random(n) < errors, rng.integers(3, size=n), truth)
    is_own = (left % 4 == 0).astype(int) - (right % 4 == 0)
    says = np.where((rng.random(n) < own) & (is_own != 0), np.where(is_own > 0, 0, 2), says)

    def pool(names, chosen, coder, value, vote):
        used, unit = np.unique(chosen, return_inverse=True)
        zeros = np.zeros_like(unit)
        kept = tuple(units[index] for index in used.tolist())
        return Pool(names, kept, unit, coder, zeros, value, vote, zeros + VOTES, zeros, zeros)

    judged = np.flatnonzero(topic < JUDGED if by_people is None else by_people(topic, place))
    chosen, vote = np.tile(judged, VOTES), np.repeat(np.arange(VOTES), len(judged))
    value = np.where(rng.random(len(chosen)) < 0.3, rng.integers(3, size=len(chosen)), truth[chosen])
    crowd = pool(tuple(f"w{i}" for i in range(12)), chosen, (4 * vote + topic[chosen] % 4), value, vote)
    every = np.flatnonzero(np.ones(n, bool) if by_model is None else by_model(topic, place))
    zeros = np.zeros_like(every)
    pools = {"crowd": crowd}
    if len(every):
        pools[COMBINED] = pool(("judge",), every, zeros, says[every], zeros)
    return Inputs(
        "crowd", tuple(f"t{t:02}" for t in range(TOPICS)), ("essay",), (Dimension("quality", "Quality", (-1, 0, 1)),),
        responses, pools, models=(("judge", "the-model"), ("model-a", "the-model")),
    )  # fmt: skip


def context_of(data):
    fitted = fit(data, data.pool, settings=SETTINGS, seed=1, report=lambda _message: None, capped=True)
    context = Context(data, (), SETTINGS, 1, lambda _message: None, fitted={data.pool: fitted})
    context.tables |= grades.compute_tables(context)
    return context


def tables_of(data):
    return compute_tables(context_of(data))


@pytest.fixture(scope="module")
def analysed():
    return context_of(inputs(np.random.default_rng(1)))


@pytest.fixture(scope="module")
def tables(analysed):
    return compute_tables(analysed)


def test_people_alone_are_the_leaderboard(analysed, tables):
    for row in leaderboard.compute_tables(analysed)["leaderboard"]:
        key = {name: row[name] for name in ("kind", "participant", "dimension")}
        ours = row_of(tables["assisted_estimates"], **key, measure="merit")
        assert ours["people"] == pytest.approx(row["merit"])
        assert (ours["topics"], ours["topics_all"]) == (JUDGED, TOPICS)
        grade = row_of(tables["assisted_estimates"], **key, measure="mean_grade")
        assert grade["people"] == pytest.approx(row["mean_grade"])
        assert grade["origin"] == row["origin"]


def test_assisted_intervals_are_narrower_where_the_model_agrees_with_people(tables):
    rows = [row for row in tables["assisted_estimates"] if row["kind"] == "participant"]
    used = [row for row in rows if row["advice"] == "use"]
    assert len(used) > len(rows) / 2
    for row in used:
        ratio = (row["people_high"] - row["people_low"]) / (row["assisted_high"] - row["assisted_low"])
        assert row["effective_sample"] == pytest.approx(ratio**2)
        assert row["effective_sample"] > 1
        assert 0.4 < row["correlation"] < 1
    (judge,) = [row for row in tables["assisted_judges"] if row["dimension"] == "quality"]
    assert (judge["advice"], judge["pairs"], judge["pairs_all"]) == ("use", 6 * JUDGED, 6 * TOPICS)
    assert judge["difference_low"] < judge["difference"] < judge["difference_high"]
    assert set(tables) == {table.name for table in TABLES}


def test_differences_are_those_of_the_estimates(tables):
    for measure in ("merit", "mean_grade"):
        row = row_of(
            tables["assisted_differences"], participant_1="model-a", participant_2="person-b", dimension="quality",
            measure=measure,
        )  # fmt: skip
        first, second = (
            row_of(tables["assisted_estimates"], participant=name, dimension="quality", measure=measure)["people"]
            for name in ("model-a", "person-b")
        )
        assert row["people"] == pytest.approx(first - second)
    duel = row_of(
        tables["assisted_differences"], participant_1="model-a", participant_2="person-b", dimension="quality",
        measure="win_share",
    )  # fmt: skip
    assert (duel["pairs"], duel["pairs_all"]) == (JUDGED, TOPICS)
    assert 0.5 < duel["people"] < 1


def test_terms_of_merits_and_shares_are_what_leaving_out_a_topic_changes(analysed):
    """The infinitesimal jackknife beside the jackknife, which fits everything again without each topic."""
    scored = scored_pairs.scores(analysed)
    (judge,) = scored.judges
    board = boards(analysed.inputs)[0]
    for statistic in (board_statistics.merits, board_statistics.win_shares):
        whole = statistic(board, judge.part, TOPICS)
        for topic in range(0, JUDGED, 5):
            without = statistic(board, judge.part.only(judge.part.topic != topic), TOPICS)
            changes = (whole.value - without.value) * (JUDGED - 1) / JUDGED
            assert changes == pytest.approx(whole.terms[:, topic], abs=0.012)
        assert np.abs(whole.terms.sum(axis=1)).max() < 1e-9


@pytest.mark.extended
def test_a_model_that_prefers_its_own_responses_does_not_move_the_estimates():
    """Over studies, the assisted estimate misses what people say about all topics to both sides alike."""
    misses = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = inputs(rng, errors=0.1, own=0.5, by_people=lambda topic, place: topic >= 0)
        everything = row_of(
            tables_of(data)["assisted_estimates"], participant="model-a", dimension="quality", measure="win_share"
        )["people"]
        pool = data.main
        keep = pool.topic[pool.unit] < JUDGED
        columns = ("unit", "coder", "dimension", "value", "vote", "k", "position", "row")
        part = replace(pool, **{name: getattr(pool, name)[keep] for name in columns})
        part = replace(part, units=tuple(unit for unit in pool.units if unit[2] < JUDGED))
        few = tables_of(replace(data, pools=data.pools | {"crowd": part}))
        row = row_of(few["assisted_estimates"], participant="model-a", dimension="quality", measure="win_share")
        misses.append(row["assisted"] - everything)
    assert abs(np.mean(misses)) < 3 * np.std(misses) / np.sqrt(len(misses)) + 1e-3


@pytest.mark.parametrize(
    ("advice", "chosen"),
    [
        ("few_topics", {"by_people": lambda topic, place: topic < 8}),
        ("nothing_more", {"by_model": lambda topic, place: topic < JUDGED}),
        ("separate", {"by_model": lambda topic, place: topic >= JUDGED}),
        ("low", {"errors": 1.0}),
    ],
)
def test_advice_says_why_the_votes_are_not_used(advice, chosen):
    tables = tables_of(inputs(np.random.default_rng(2), **chosen))
    row = row_of(tables["assisted_estimates"], participant="model", dimension="quality", measure="win_share")
    (judge,) = [row for row in tables["assisted_judges"] if row["dimension"] == "quality"]
    assert row["advice"] == judge["advice"] == advice
    assert (row["assisted"], row["assisted_low"], row["effective_sample"]) == (row["people"], row["people_low"], 1)


def test_grades_need_whole_topics_and_merits_do_not():
    half = tables_of(inputs(np.random.default_rng(3), by_people=lambda topic, place: (topic + place) % 2 == 0))
    rows = [row for row in half["assisted_estimates"] if (row["participant"], row["dimension"]) == ("model", "quality")]
    assert {row["measure"] for row in rows if row["advice"] == "other_pairs"} == {"mean_grade"}


def test_a_part_that_was_chosen_is_found():
    rng = np.random.default_rng(4)
    data = inputs(rng, by_people=lambda topic, place: topic >= 0)
    # People judged the topics in which the model's responses win most, in its own eyes.
    judge, size = data.pools[COMBINED], len(PAIRS)
    crossing = np.array([data.responses[a].origin != data.responses[b].origin for a, b, _t, _name in judge.units])
    wins = ((judge.value == 0) & crossing).reshape(TOPICS, size).sum(axis=1)
    best = set(np.argsort(-wins)[:JUDGED].tolist())
    pool = data.main
    units = [index for index, unit in enumerate(pool.units) if unit[2] in best]
    keep = np.isin(pool.unit, units)
    columns = ("coder", "dimension", "value", "vote", "k", "position", "row")
    part = replace(
        pool, units=tuple(pool.units[index] for index in units), unit=np.searchsorted(units, pool.unit[keep]),
        **{name: getattr(pool, name)[keep] for name in columns},
    )  # fmt: skip
    (row,) = [
        row
        for row in tables_of(replace(data, pools=data.pools | {"crowd": part}))["assisted_judges"]
        if row["dimension"] == "quality"
    ]
    assert row["advice"] == "not_random"
    assert row["p"] < 0.01


def test_without_models_or_without_people_there_is_nothing():
    rng = np.random.default_rng(5)
    assert all(rows == [] for rows in tables_of(inputs(rng, by_model=lambda topic, place: topic < 0)).values())
    data = inputs(rng)
    models = replace(data, pool="model", pools={"model": data.pools[COMBINED]})
    assert all(rows == [] for rows in tables_of(models).values())


@pytest.mark.django_db
def test_page_shows_what_is_missing_or_the_estimates():
    study = small_study.make()
    assert visit(study, "assisted-estimates/").context["run"] is None
    small_study.campaign(
        study, dict.fromkeys(list(small_study.VOTES)[:3], ("A", "B")), judges="MODEL", names=("judge",), k=1
    )
    small_study.analyse(study)
    page = visit(study, "assisted-estimates/?dimension=clear").context
    assert page["has_judges"]
    assert page["lacks_further_pairs"]
    assert page["dimension"] == "clear"
    assert {row["advice"] for measure in page["measures"] for row in measure["rows"]} == {"nothing_more"}
    assert visit(study, "assisted-estimates/?dimension=<b>").context["dimension"] == "all"
