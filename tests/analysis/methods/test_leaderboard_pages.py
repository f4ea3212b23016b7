"""The pages Leaderboard and Grades: every number as it stands in the tables, and who is ranked, apart or not at all."""

import pytest

from analysis.methods import significance_marks
from analysis.methods.leaderboard import figures as chart
from analysis.methods.leaderboard import queries
from analysis.models import ResultTable
from tests.analysis import small_study
from tests.analysis.methods.test_grade_differences import ORDERS, votes_of
from tests.analysis.page_visits import visit
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
    unknown = visit(study, "leaderboard/?dimension='><script>")
    assert unknown.context["dimension"] == "all"
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
