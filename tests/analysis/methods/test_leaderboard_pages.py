"""The pages Leaderboard and Grades: every number as it stands in the tables, and who is ranked, apart or not at all."""

import pytest

from analysis.methods import significance_marks
from analysis.methods.leaderboard import figures as chart
from analysis.methods.leaderboard import forest, queries
from analysis.models import ResultTable
from annotation.enums import Judges
from tests.analysis import small_study
from tests.analysis.methods.test_grade_differences import ORDERS, votes_of
from tests.analysis.page_visits import client_of, results, visit
from tests.analysis.rows import row_of
from tests.analysis.small_study import analyse
from tests.factories import ParticipantFactory, ResponseFactory, StudyFactory, TopicFactory
from writing.enums import Origin

pytestmark = pytest.mark.django_db


def rows_of(run, name):
    return ResultTable.objects.get(run=run, name=name).rows


def test_without_labels_nobody_is_ranked():
    study = small_study.make({("t1-x", "t1-y"): ("AAA", "AAA"), ("t1-x", "t1-z"): ("AAA", "AAA")})
    analyse(study)
    assert not visit(study, "leaderboard/").context["ranked"]
    for unanalysed in (StudyFactory(), small_study.make()):
        assert visit(unanalysed, "leaderboard/").context["run"] is None


@pytest.mark.extended
def test_who_was_never_compared_is_not_ranked_and_an_unknown_dimension_shows_all():
    """The numbers that the page shows of the demo study are golden."""
    study = small_study.make(votes_of(ORDERS))
    unseen = ParticipantFactory(study=study, external_id="my-rag")
    ResponseFactory(topic=study.topics.first(), style=study.styles.first(), origin="SYSTEM", participant=unseen)
    run = analyse(study)
    context = visit(study, "leaderboard/?dimension=clear").context
    assert [row["participant"] for row in context["not_ranked"]] == ["my-rag"]
    tests = [row for row in rows_of(run, "leaderboard_tests") if row["dimension"] == "clear"]
    assert len(tests) == len(context["tests"]) == 3
    unknown = visit(study, "leaderboard/?dimension='><script>&style=poem&judges=nobody")
    chosen = unknown.context["selection"]
    assert (chosen.dimension, chosen.style, chosen.judges) == ("all", "all", "gold")
    assert "<script>'" not in unknown.content.decode()


def test_neighbours_in_rank_are_told_apart_by_their_test_alone():
    ranked = [{"participant": name, "rank": rank} for rank, name in ((2, "b"), (1, "a"), (3, "c"), (4, "d"))]

    def row(one, other, p, difference):
        return {"participant_1": one, "participant_2": other, "p_adjusted": p, "difference": difference, "n": 8}

    tests = [row("b", "a", 0.01, -0.5), row("b", "c", 0.01, -0.5), row("c", "a", 0.001, -1.0), row("c", "d", None, 0.1)]
    shown = queries.conclusions(ranked, tests)
    assert [(each.better, each.worse, each.is_clear, each.p) for each in shown] == [
        ("a", "b", True, 0.01), ("b", "c", False, 0.01),
    ]  # fmt: skip
    assert not queries.conclusions(ranked, [row("a", "b", 0.05, 0.5)])[0].is_clear


@pytest.mark.extended
def test_style_and_judges_select_the_rows_of_their_table():
    study = small_study.make(votes_of(ORDERS))
    run = analyse(study)
    context = visit(study, "leaderboard/?style=bullet&judges=crowd&dimension=deep").context
    shown = [
        row for row in rows_of(run, "leaderboard_by_judges")
        if (row["kind"], row["judges"], row["style"], row["dimension"]) == ("participant", "crowd", "bullet", "deep")
    ]  # fmt: skip
    assert [(row["participant"], row["merit"]) for row in context["board"]["rows"]] == [
        (row["participant"], row["merit"]) for row in shown
    ]
    assert len(shown) == 2  # y wrote essays
    assert not context["tests"].paginator.count  # they compare gold labels over all styles


@pytest.mark.extended
def test_cells_of_the_matrix_are_both_sides_of_a_win_rate():
    study = small_study.make(votes_of(ORDERS))
    run = analyse(study)
    context = visit(study, "leaderboard/").context
    matrix = context["matrix"]
    names = [name for name, _words in matrix["names"]]
    assert names == [row["participant"] for row in context["board"]["rows"]]
    assert all(matrix["rows"][place]["cells"][place] is None for place in range(len(names)))
    row = next(
        row for row in rows_of(run, "win_rates")
        if (row["kind"], row["judges"], row["style"], row["dimension"]) == ("participant", "crowd", "all", "all")
    )  # fmt: skip
    one, other = names.index(row["participant_1"]), names.index(row["participant_2"])
    cell, turned = matrix["rows"][one]["cells"][other], matrix["rows"][other]["cells"][one]
    assert (cell["share_won"], cell["won_low"], cell["n"]) == (row["share_won"], row["won_low"], row["n"])
    assert (turned["share_won"], turned["won_low"], turned["n"]) == (row["share_lost"], row["lost_low"], row["n"])
    assert {cell["tone"][0], turned["tone"][0]} == {"a", "b"}


def test_a_system_has_its_profile_and_its_best_and_worst_responses():
    study = small_study.make(votes_of(ORDERS))
    run = analyse(study, labels="likeliest")
    context = visit(study, "leaderboard/system/?system=writer-z&dimension=clear").context
    profile = {row["dimension"]: row["merit"] for row in context["profile"]["rows"]}
    assert profile == {
        row["dimension"]: row["merit"]
        for row in rows_of(run, "leaderboard")
        if (row["kind"], row["participant"]) == ("participant", "writer-z")
    }
    assert list(profile) == ["all", "clear", "deep"]
    assert (context["best"][0]["response"].external_id, context["best"][0]["grade"]) == ("t8-z", 3.0)  # the only first
    assert {each["grade"] for each in context["worst"]} == {1.0}
    assert [row["participant_2"] for row in context["against"]] == ["writer-y", "writer-x"]
    assert client_of(study).get(results(study, "leaderboard/system/?system=nobody")).status_code == 404


@pytest.mark.extended
def test_two_systems_are_compared_down_to_the_pair():
    study = small_study.make(votes_of(ORDERS))
    analyse(study, labels="likeliest")
    address = "leaderboard/pair/?first=writer-z&second=writer-x&dimension=clear"
    answer = visit(study, address)
    context = answer.context
    pairs = {each["topic"]: each for each in context["pairs"]}
    assert len(pairs) == len(ORDERS)
    for number, order in enumerate(ORDERS, start=1):
        is_won = order.index("z") < order.index("x")
        each = pairs[f"t{number}"]
        assert each["first_is_right"]  # x was shown left
        assert each["counts"] == ([3, 0, 0] if is_won else [0, 0, 3])
        assert each["winner"] == ("first" if is_won else "second")
        assert f"/results/pairs/{each['id']}/" in answer.content.decode()
    assert (context["whole"]["wins"], context["whole"]["losses"]) == (9, 15)
    assert client_of(study).get(results(study, "leaderboard/pair/?first=writer-z&second=nobody")).status_code == 404


def test_points_of_a_plot_stand_where_their_values_are():
    plot = forest.forest([(0.0, -1.0, 1.0), (1.0, -9.0, 1.5), (None, None, None), (0.5, None, None)])
    first, second, none, alone = plot.marks
    assert none is None
    assert alone.low == alone.high == ""
    at = [float(mark.point.rstrip("%")) for mark in (first, alone, second)]
    assert at[1] - at[0] == pytest.approx(at[2] - at[1], abs=0.02)
    assert (second.is_cut_low, second.is_cut_high) == (True, False)
    assert (first.is_cut_low, second.low) == (False, "0.00%")
    assert len(plot.ticks) >= 3
    by_label = {float(tick.label.replace("−", "-")): float(tick.position.rstrip("%")) for tick in plot.ticks}
    assert by_label[0.0] == pytest.approx(at[0], abs=0.01)
    assert forest.forest([(None, None, None)]).ticks == []


def test_counts_of_an_approximation_have_two_digits():
    assert [queries.rounded(count) for count in (7, 99, 101, 1234, 1999)] == [7, 99, 110, 1300, 2000]


@pytest.mark.extended
def test_grades_of_several_systems_are_shown_by_system_and_not_by_what_says_nothing(monkeypatch):
    """All are systems: the mean of all responses of a topic is the same whatever they are like."""
    monkeypatch.setattr(small_study, "ORIGINS", dict.fromkeys("xyz", Origin.SYSTEM))
    monkeypatch.setattr(small_study, "STYLES", dict.fromkeys("xyz", "bullet"))
    study = small_study.make(votes_of(("yxz", "yzx", "yxz")))
    run = analyse(study, labels="likeliest")  # with which means are those that one counts by hand
    answer = visit(study, "grades/")
    text = answer.content.decode()
    assert answer.context["means"]["columns"] == []
    assert "charts/grades.svg" not in text
    assert "charts/grades_of_systems.svg" in text
    systems = answer.context["systems"]["rows"]
    assert [row["name"] for row in systems] == ["writer-y", "writer-x", "writer-z"]
    row = row_of(rows_of(run, "leaderboard"), participant="writer-y", dimension="all", kind="participant")
    assert systems[0]["cells"][0] == row
    assert (row["mean_grade"], row["n"]) == (3.0, 3)
    assert '<th scope="row" title="writer-y">writer-y</th>' in text
    assert text.count(">writer-z</a>") == 3  # beside its response of each topic


def test_groups_that_never_met_are_warned_of():
    study = StudyFactory()
    votes = {("t1-x", "t1-y"): ("AAB",), ("t1-x", "t1-z"): ("AAA",), ("t2-x", "t2-y"): ("BBB",)}
    small_study.responses(study, {pair: letters for pair, letters in votes.items() if pair[0] < "t2"})
    first, topic = study.responses.first(), TopicFactory(study=study, external_id="t2")
    for letter in "xy":
        person = ParticipantFactory(study=study, external_id=f"other-{letter}")
        ResponseFactory(
            topic=topic, style=first.style, origin=first.origin, participant=person, external_id=f"t2-{letter}"
        )
    small_study.campaign(study, votes, names=small_study.JUDGES[:3], dimensions=["clear"])
    analyse(study)
    answer = visit(study, "leaderboard/")
    assert len(answer.context["apart"]) == 2
    assert "note--warn" in answer.content.decode()


def test_marks_name_what_a_mean_is_higher_than():
    def test(dimension, style, comparison, p_adjusted, difference):
        return {"dimension": dimension, "style": style, "comparison": comparison, "p_adjusted": p_adjusted,
                "difference": difference}  # fmt: skip

    rows = [
        test("clear", "bullet", "human - model", 0.0042, -1),
        test("clear", "all", "bullet - essay", 0.00004, 1),
        test("clear", "all", "bullet - news", 0.03, 1),
        test("clear", "all", "essay - news", 0.3, 1),
        test("deep", "all", "human - model", None, None),
    ]
    styles = {"bullet": "Bullets", "essay": "Essay", "news": "News", "all": "All styles"}
    marks = significance_marks.marks(rows, styles)
    stars = {("clear", "bullet", "model"): "**", ("clear", "bullet", "all"): "***"}
    assert {key: mark["stars"] for key, mark in marks.items()} == stars
    assert all(part in marks["clear", "bullet", "model"]["why"] for part in ("human", "0.0042"))
    assert all(part in marks["clear", "bullet", "all"]["why"] for part in ("Essay", "< 0.0001", "News", "0.0300"))
    assert [significance_marks.stars(p) for p in (None, 0.05, 0.049, 0.01, 0.009, 0.001, 0.0009)] == [
        "", "", "*", "*", "**", "**", "***",
    ]  # fmt: skip


def test_names_on_the_chart_are_short_and_apart():
    long = ["0123456789abcdef-one-more", "0123456789abcdef-another"]
    assert list(chart.names_of([*long, "gpt"]).values()) == ["01234567…", long[1], "gpt"]


@pytest.mark.extended
def test_a_pair_shows_how_experts_judged_it_beside_the_analysed_judges():
    study = small_study.make()
    pair = ("t1-x", "t1-y")
    small_study.campaign(study, {pair: ("B", "N")}, judges=Judges.EXPERT, names=("expert-1",))
    analyse(study)
    stored = study.pairs.get(a__external_id=pair[0], b__external_id=pair[1])
    questions = {each["dimension"]: each for each in visit(study, f"pairs/{stored.pk}/").context["questions"]}
    clear = questions["clear"]
    assert [(vote["participant"], vote["answer"]) for vote in clear["votes"] if vote["judges"]] == [("expert-1", "b")]
    assert clear["counts"] == [3, 0, 1]  # of the crowd alone, whose votes make the label
    assert questions["deep"]["votes"][-1]["answer"] == "n"


@pytest.mark.extended
def test_one_judge_has_a_leaderboard_that_says_so_and_no_rows_of_dashes_for_agreement():
    votes = {pair: tuple(given[0] for given in letters) for pair, letters in votes_of(ORDERS).items()}
    study = small_study.make(votes)
    analyse(study)
    context = visit(study, "leaderboard/").context
    assert (context["ranked"], context["is_uncorrected"]) == (3, True)
    assert visit(study, "").context["agreement"]["rows"] == []
    several = small_study.make(votes_of(ORDERS))
    analyse(several)
    assert not visit(several, "leaderboard/").context["is_uncorrected"]
    assert visit(several, "").context["agreement"]["rows"]
