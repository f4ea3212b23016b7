"""The pages Leaderboard and Grades: every number as it stands in the tables, every state, what may be set."""

import json

import pytest

from analysis.domain import analysing
from analysis.domain.charts import leaderboard as chart
from analysis.domain.pages import marking
from analysis.models import Table
from crowdrag.runs.domain import running
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from tests.analysis import small_study
from tests.analysis.test_grade_tests import ORDERS, row_of, votes_of
from tests.analysis.test_pages import address, member_of
from tests.factories import ParticipantFactory, ResponseFactory, StudyFactory, TopicFactory
from writing.enums import Origin

pytestmark = pytest.mark.django_db
# With the likeliest labels, means are those that one counts by hand.
QUICK = {"resamples": 40, "restarts": 2, "refine": 0, "labels": "likeliest"}


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)


def analysed(votes, **parameters):
    study = small_study.make(votes)
    return study, running.wait(analysing.start(study=study, parameters=QUICK | parameters))


def rows_of(run, name):
    return Table.objects.get(run=run, name=name).rows


def test_without_judgments_and_without_a_run_it_says_so():
    answer = member_of(StudyFactory(), Role.EDITOR).get(address(StudyFactory(), "leaderboard/"))
    assert answer.status_code == 404
    study = StudyFactory()
    assert "Nothing to analyse yet" in member_of(study).get(address(study, "leaderboard/")).content.decode()
    study = small_study.make()
    assert "Not analysed yet" in member_of(study).get(address(study, "leaderboard/")).content.decode()


def test_without_labels_nobody_is_ranked_and_it_says_why():
    study, _run = analysed({("t1-x", "t1-y"): ("AAA", "AAA"), ("t1-x", "t1-z"): ("AAA", "AAA")})
    text = member_of(study).get(address(study, "leaderboard/")).content.decode()
    assert "Nobody is ranked" in text


def test_the_leaderboard_shows_the_numbers_of_the_table():
    study = small_study.make(votes_of(ORDERS))
    unseen = ParticipantFactory(study=study, external_id="my-rag")
    ResponseFactory(topic=study.topics.first(), style=study.styles.first(), origin="SYSTEM", participant=unseen)
    run = running.wait(analysing.start(study=study, parameters=QUICK))
    answer = member_of(study).get(address(study, "leaderboard/"), {"dimension": "clear"})
    text = " ".join(answer.content.decode().split())
    # By hand: y comes first in six topics, third or second in the others; grades 3, 2, 1 in the order of each topic.
    mean = sum(3 - order.index("y") for order in ORDERS) / len(ORDERS)
    row = row_of(rows_of(run, "leaderboard"), participant="writer-y", dimension="clear")
    assert (row["rank"], row["mean_grade"], row["n"]) == (1, mean, 8)
    assert f'<td class="num" data-value="{mean!r}">' in text
    assert f'<td class="num" data-value="{row["merit"]!r}">' in text
    assert f"[{row['rank_low']}, {row['rank_high']}]" in text
    assert "1 participant is not ranked" in text
    assert "my-rag" in text
    tests = [row for row in rows_of(run, "leaderboard_tests") if row["dimension"] == "clear"]
    assert len(tests) == 3
    for row in tests:
        assert (marking.said(row["p"]) in text) if row["p"] is not None else (row["note"] in text)


def test_grades_of_several_systems_are_shown_by_system_and_not_by_what_says_nothing(monkeypatch):
    """All are systems: the mean of all responses of a topic is the same whatever they are like."""
    monkeypatch.setattr(small_study, "ORIGINS", dict.fromkeys("xyz", Origin.SYSTEM))
    monkeypatch.setattr(small_study, "STYLES", dict.fromkeys("xyz", "bullet"))
    study, run = analysed(votes_of(("yxz", "yzx", "yxz")))
    answer = member_of(study).get(address(study, "grades/"))
    text = answer.content.decode()
    assert answer.context["means"]["columns"] == []
    assert "charts/grades.svg" not in text
    assert "charts/grades_of_systems.svg" in text
    systems = answer.context["systems"]["rows"]
    assert [row["name"] for row in systems] == ["writer-y", "writer-x", "writer-z"]
    row = row_of(rows_of(run, "leaderboard"), participant="writer-y", dimension="all")
    assert systems[0]["cells"][0] == row
    assert (row["mean_grade"], row["n"]) == (3.0, 3)
    assert '<th scope="row" title="writer-y">writer-y</th>' in text
    assert text.count(">writer-z</a>") == 3  # beside its response of each topic


def test_one_model_among_people_is_told_by_origin_alone():
    study, _run = analysed(votes_of(ORDERS[:2]))
    answer = member_of(study).get(address(study, "grades/"))
    assert answer.context["systems"]["rows"] == []
    assert len(answer.context["means"]["columns"]) > 3


def test_an_unknown_dimension_shows_all():
    study, _run = analysed(votes_of(ORDERS[:2]))
    answer = member_of(study).get(address(study, "leaderboard/"), {"dimension": "'><script>"})
    assert answer.context["dimension"] == "all"
    assert "<script>'" not in answer.content.decode()


def test_groups_that_never_met_are_warned_of():
    study = StudyFactory()
    votes = {("t1-x", "t1-y"): ("AAB",), ("t1-x", "t1-z"): ("AAA",), ("t2-x", "t2-y"): ("BBB",)}
    other = {letter: ParticipantFactory(study=study, external_id=f"other-{letter}") for letter in "xy"}
    small_study.responses(study, {pair: letters for pair, letters in votes.items() if pair[0] < "t2"})
    first = study.responses.first()
    topic = TopicFactory(study=study, external_id="t2")
    for letter, person in other.items():
        ResponseFactory(
            topic=topic, style=first.style, origin=first.origin, participant=person, external_id=f"t2-{letter}"
        )
    small_study.campaign(study, votes, names=small_study.JUDGES[:3], dimensions=["clear"])
    running.wait(analysing.start(study=study, parameters=QUICK))
    text = member_of(study).get(address(study, "leaderboard/")).content.decode()
    assert "2 participants stand in groups of their own" in text


def test_without_a_style_in_common_nothing_is_tested_and_it_is_said_why():
    study, run = analysed(votes_of(ORDERS[:2]))
    assert "no topic has both" in member_of(study).get(address(study, "grades/")).content.decode()
    assert {row["p"] for row in rows_of(run, "grade_tests")} == {None}


def test_grades_carry_marks_of_significance(monkeypatch):
    """The model before both people in each of eight topics, in one style: p = 2 / 2^8 in each of three equal tests."""
    monkeypatch.setattr(small_study, "STYLES", dict.fromkeys("xyz", "bullet"))
    study, run = analysed(votes_of(("yxz",) * 8))
    for row in rows_of(run, "grade_tests"):
        assert (row["p"], row["p_adjusted"], row["difference"]) == (2 / 2**8, 2 / 2**8, -1.5)
    text = member_of(study).get(address(study, "grades/")).content.decode()
    # On the model's mean of both dimensions and of all, in the style and in all styles together where these are said.
    assert '<abbr class="mark" title="higher than human, adjusted p 0.0078">**</abbr>' in text
    assert text.count('<td class="num" data-value="0.0078125">0.0078</td>') == 3  # p
    assert text.count("</span></td>") >= 3
    assert text.count('0.0078 <span class="mark">**</span>') == 3  # adjusted


def test_marks_say_what_a_mean_is_higher_than():
    rows = [
        {
            "dimension": "clear",
            "style": "bullet",
            "comparison": "human - model",
            "p_adjusted": 0.0042,
            "difference": -1,
        },
        {"dimension": "clear", "style": "all", "comparison": "bullet - essay", "p_adjusted": 0.00004, "difference": 1},
        {"dimension": "clear", "style": "all", "comparison": "bullet - news", "p_adjusted": 0.03, "difference": 1},
        {"dimension": "clear", "style": "all", "comparison": "essay - news", "p_adjusted": 0.3, "difference": 1},
        {"dimension": "deep", "style": "all", "comparison": "human - model", "p_adjusted": None, "difference": None},
    ]
    styles = {"bullet": "Bullets", "essay": "Essay", "news": "News", "all": "All styles"}
    assert marking.marks(rows, styles) == {
        ("clear", "bullet", "model"): {"stars": "**", "why": "higher than human, adjusted p 0.0042"},
        ("clear", "bullet", "all"): {
            "stars": "***", "why": "higher than Essay, adjusted p < 0.0001; higher than News, adjusted p 0.0300",
        },
    }  # fmt: skip


def test_stars_are_by_the_usual_limits():
    assert [marking.stars(p) for p in (None, 0.05, 0.049, 0.01, 0.009, 0.001, 0.0009)] == [
        "", "", "*", "*", "**", "**", "***",
    ]  # fmt: skip


def test_tables_and_chart_are_there_to_download():
    study, run = analysed(votes_of(ORDERS))
    client = member_of(study)
    for name in ("leaderboard", "leaderboard_tests", "grade_tests"):
        for form in ("csv", "tex", "json"):
            assert client.get(f"{address(study)}tables/{name}.{form}?run={run.key}").status_code == 200
        found = json.loads(client.get(f"{address(study)}tables/{name}.json?run={run.key}").content)
        assert found == rows_of(run, name)
    spec = json.loads(client.get(f"{address(study)}charts/leaderboard.json?run={run.key}").content)
    drawn = {(row["dimension"], row["participant"]): row for row in next(iter(spec["datasets"].values()))}
    row = row_of(rows_of(run, "leaderboard"), participant="writer-y", dimension="clear")
    shown = drawn["Clear", "writer-y"]
    assert (shown["rank"], shown["low"], shown["high"]) == (row["rank"], row["rank_low"], row["rank_high"])


def test_names_on_the_chart_are_short_and_apart():
    long = ["0123456789abcdef-one-more", "0123456789abcdef-another"]
    assert list(chart.names_of([*long, "gpt"]).values()) == ["01234567…", long[1], "gpt"]


def test_how_intervals_are_made_may_be_set():
    study = small_study.make()
    client = member_of(study, Role.EDITOR)
    given = {"bootstrap": "refit", "resample": "topics+workers", "grades_from": "votes"}
    client.post(address(study, "analyse/"), given)
    parameters = Run.objects.get().parameters
    assert {name: parameters[name] for name in given} == given
    answer = client.post(address(study, "analyse/"), {"bootstrap": "sometimes"})
    assert (answer.status_code, Run.objects.count()) == (422, 1)
    assert "bootstrap" in answer.context["form"].errors


def test_left_empty_they_have_their_defaults():
    study = small_study.make()
    member_of(study, Role.EDITOR).post(address(study, "analyse/"), {"bootstrap": "", "resample": ""})
    parameters = Run.objects.get().parameters
    assert (parameters["bootstrap"], parameters["resample"]) == ("conditional", "topics")
