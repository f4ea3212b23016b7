"""Pages of results: every state, every role."""

import csv
import io
import json
import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analysis.domain import analysing
from analysis.models import Table
from annotation.models import Assignment, Judgment, Pair
from crowdrag.runs.domain import running
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Participant, Study
from tests.analysis import small_study
from tests.analysis.small_study import VOTES
from tests.factories import MembershipFactory, StudyFactory

pytestmark = pytest.mark.django_db
QUICK = {"resamples": 30, "restarts": 3, "refine": 0}
PAGES = ("", "competence/", "grades/", "metrics/", "pairs/", "order/", "models/")


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)


@pytest.fixture
def study(run: Run) -> Study:
    """The study before it was analysed."""
    run.delete()
    return Study.objects.get(pk=run.study_id)


def member_of(study: Study, role: Role = Role.VIEWER) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def analyse(study: Study, **options) -> Run:
    return running.wait(analysing.start(study=study, parameters=QUICK, **options))


def address(study: Study, page: str = "") -> str:
    return f"/studies/{study.slug}/results/{page}"


def test_without_judgments_pages_offer_no_analysis():
    study = StudyFactory()
    client = member_of(study, Role.EDITOR)
    for part in PAGES:
        answer = client.get(address(study, part))
        assert (answer.status_code, answer.context["run"]) == (200, None), part
        assert 'action="/studies' not in answer.content.decode(), part


def test_without_a_run_editors_may_start_one(study):
    for role, may in ((Role.VIEWER, False), (Role.REVIEWER, False), (Role.EDITOR, True)):
        client = member_of(study, role)
        for part in PAGES if may else PAGES[:1]:
            text = client.get(address(study, part)).content.decode()
            assert "56" in text, (role, part)
            assert (f'action="{address(study, "analyse/")}"' in text) is may, (role, part)


def test_while_the_first_run_is_at_work_pages_lead_to_it(study):
    run = analysing.start(study=study, parameters=QUICK)
    client = member_of(study, Role.EDITOR)
    for part in PAGES:
        text = client.get(address(study, part)).content.decode()
        assert f"/studies/{study.slug}/runs/{run.key}/" in text, part
        assert f'action="{address(study, "analyse/")}"' not in text, part


def test_a_failed_run_is_said_with_its_reason_beside_the_earlier_results(run):
    study, done = run.study, run
    analysing.start(study=study, parameters=QUICK)
    Run.objects.exclude(pk=done.pk).update(
        state=RunState.FAILED, error="The disk is full.", started_at=done.started_at, finished_at=done.finished_at
    )
    text = member_of(study).get(address(study)).content.decode()
    assert "The disk is full." in text
    assert f"?run={done.key}" in text


def test_start_begins_a_run_with_what_was_asked_for_and_shows_it(study):
    client = member_of(study, Role.EDITOR)
    answer = client.post(address(study, "analyse/"), {"seed": "7", "resamples": "50", "k": ""})
    run = Run.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/studies/{study.slug}/runs/{run.key}/")
    assert (run.seed, run.parameters["resamples"], run.parameters["k"]) == (7, 50, None)
    assert run.created_by.email


def test_a_bad_parameter_is_refused_where_it_stands_and_all_that_was_typed_stays(run):
    study, before = run.study, Run.objects.count()
    client = member_of(study, Role.EDITOR)
    for given in ({"resamples": "0"}, {"spam_threshold": "2"}):
        answer = client.post(address(study, "analyse/"), given | {"seed": "41"})
        page, form = answer.content.decode(), answer.context["form"]
        assert answer.status_code == 422
        assert (set(form.errors), form["seed"].value()) == (set(given), "41")
        assert 'value="41"' in page
        assert '<details class="more" open>' in page
    assert Run.objects.count() == before


def test_start_without_judgments_is_refused():
    study = StudyFactory()
    answer = member_of(study, Role.EDITOR).post(address(study, "analyse/"), follow=True)
    assert [message.level_tag for message in answer.context["messages"]] == ["error"]
    assert not Run.objects.filter(study=study).exists()


def test_only_editors_may_start_and_only_by_post(study):
    assert member_of(study, Role.REVIEWER).post(address(study, "analyse/")).status_code == 403
    assert member_of(study, Role.EDITOR).get(address(study, "analyse/")).status_code == 405
    assert not Run.objects.exists()


def test_strangers_see_nothing(run):
    study = run.study
    stranger = member_of(StudyFactory())
    pages = [*PAGES, f"pairs/{Pair.objects.first().pk}/", "tables/gold.json", f"charts/agreement.svg?run={run.key}"]
    assert [stranger.get(address(study, part)).status_code for part in pages] == [404] * len(pages)
    other = StudyFactory()
    client = member_of(other)
    assert client.get(address(other, f"tables/gold.json?run={run.key}")).status_code == 404
    assert client.get(address(other, f"pairs/{Pair.objects.first().pk}/")).status_code == 404
    assert client.get(address(other, f"competence/{Participant.objects.first().pk}/")).status_code == 404
    assert client.get(address(other, f"?run={run.key}")).status_code == 404


def test_overview_shows_agreement_with_intervals_and_as_of_when(run):
    study = run.study
    answer = member_of(study).get(address(study))
    grid = answer.context["agreement"]
    assert [row["label"] for row in grid["rows"]] == ["Clear", "Deep"]
    assert [(column.split, column.coders) for column in grid["columns"]] == [
        (split, coders) for split in ("complete", "differentiable", "minimal") for coders in ("crowd", "corrected")
    ]
    stored = run.tables.get(name="agreement").rows
    assert grid["rows"][0]["cells"][0] == next(row for row in stored if row["split"] == "complete")
    text = answer.content.decode()
    assert f"/studies/{study.slug}/runs/{run.key}/" in text
    assert "56 judgments" in " ".join(text.split())
    assert f'action="{address(study, "analyse/")}"' not in text


def test_pages_know_when_judgments_have_changed(run):
    study = run.study
    client = member_of(study, Role.EDITOR)

    def shown():
        state = client.get(address(study)).context["state"]
        return state.changed, state.added

    assert shown() == (False, 0)
    judgment = Judgment.objects.first()
    Judgment.objects.filter(pk=judgment.pk).update(value=-judgment.value or 1)
    assert shown() == (True, 0)
    small_study.campaign(study, {("t1-x", "t1-y"): ("A", "A")}, names=["w9"])
    assert shown() == (True, 2)


def test_an_older_run_can_be_read_and_links_stay_with_it(run):
    study, first = run.study, run
    analyse(study, seed=1)
    client = member_of(study)
    answer = client.get(address(study, f"?run={first.key}"))
    assert answer.context["run"] == first
    assert f'href="{address(study, "grades/")}?run={first.key}"' in answer.content.decode()
    assert client.get(address(study, f"?run={uuid.uuid4()}")).status_code == 404
    assert client.get(address(study, "?run=nonsense")).status_code == 404


def test_too_little_data_is_named_with_the_cure():
    study = small_study.make({("t1-x", "t1-y"): ("AAA",)}, dimensions=["clear"])
    analyse(study)
    client = member_of(study)
    assert "All pairable values are equal: alpha needs judgments that differ somewhere." in client.get(
        address(study)
    ).content.decode().replace("<strong>", "").replace("</strong>", "")
    assert "MACE needs at least two labels in use" in client.get(address(study, "competence/")).content.decode()
    assert "Grades need gold labels" in client.get(address(study, "grades/")).content.decode()
    assert client.get(address(study, "pairs/")).status_code == 200
    assert client.get(address(study, f"pairs/{study.pairs.get().pk}/")).status_code == 200
    assert client.get(address(study, "charts/agreement.svg")).status_code == 404


def test_participants_are_sorted_filtered_and_linked(run):
    client = member_of(run.study)
    study = run.study
    page = client.get(address(study, "competence/?sort=participant")).context["page"]
    assert [person["participant"] for person in page] == ["w1", "w2", "w3", "w4"]
    page = client.get(address(study, "competence/?sort=-clear")).context["page"]
    assert page[0]["participant"] == "w4"
    page = client.get(address(study, "competence/?text=W2")).context["page"]
    assert [person["participant"] for person in page] == ["w2"]
    assert page[0]["id"] == Participant.objects.get(external_id="w2").pk
    assert not list(client.get(address(study, "competence/?text=zzz")).context["page"])


def test_participant_page_sets_each_answer_beside_the_gold_label(run):
    study = run.study
    person = Participant.objects.get(external_id="w4")
    answer = member_of(study).get(address(study, f"competence/{person.pk}/"))
    gold = {
        (row["response_a"], row["response_b"], row["dimension"]): row["label"]
        for row in run.tables.get(name="gold").rows
    }
    agreeing = [gold[left, right, "clear"] == letters[0][3].lower() for (left, right), letters in VOTES.items()]
    clear = answer.context["summary"][0]
    assert clear["agrees"] == sum(agreeing) / len(agreeing)
    assert (clear["count_a"], clear["count_n"], clear["count_b"]) == (3, 1, 3)
    assert len(answer.context["pairs"]) == 7
    nobody = Participant.objects.filter(external_id="writer-x").get()
    assert not member_of(study).get(address(study, f"competence/{nobody.pk}/")).context["pairs"]


def test_answers_that_agreement_leaves_out_stand_in_brackets_and_are_tallied(study):
    Judgment.objects.filter(assignment__participant__external_id="w1").order_by("pk")[0].delete()
    running.wait(analysing.start(study=study, parameters=QUICK | {"k": 3}))
    person = Participant.objects.get(external_id="w4")
    answer = member_of(study).get(address(study, f"competence/{person.pk}/"))
    own, other = answer.context["summary"]
    assert own["judgments"] == other["judgments"] == 7
    assert own["count_a"] + own["count_n"] + own["count_b"] == own["labelled"] == 7
    assert sum(not pair["cells"][0]["counted"] for pair in answer.context["pairs"]) == 6


def test_the_page_says_how_many_judgments_agreement_leaves_out(run):
    study = run.study
    assert member_of(study).get(address(study)).context["surplus"] == 0
    running.wait(analysing.start(study=study, parameters=QUICK | {"k": 3}))
    answer = member_of(study).get(address(study))
    assert answer.context["surplus"] == 14
    assert "14 judgments" in answer.content.decode()


def test_a_run_without_parameters_names_the_default_limit(run):
    study = run.study
    Run.objects.filter(pk=run.pk).update(parameters={})
    assert "on the dimension exceeds 0.7." in member_of(study).get(address(study)).content.decode()


def test_pairs_pass_filters(run):
    study = run.study
    client = member_of(study)
    rows = client.get(address(study, "pairs/?topic=t1&dimension=clear&label=a")).context["rows"]
    expected = {
        (row["response_a"], row["response_b"])
        for row in run.tables.get(name="gold").rows
        if row["response_a"].startswith("t1") and row["dimension"] == "clear" and row["label"] == "a"
    }
    assert {(row["response_a"], row["response_b"]) for row in rows} == expected
    assert expected
    counts = {(row["response_a"], row["response_b"]): row["counts"] for row in rows}
    assert counts["t1-x", "t1-y"] == (3, 0, 1)
    certain = client.get(address(study, "pairs/?sort=-certainty")).context["rows"]
    assert certain[0]["certainty"] >= certain[-1]["certainty"]
    assert not client.get(address(study, "pairs/?topic=none")).context["rows"]


def test_pair_page_shows_each_vote_with_its_judge_and_the_other_order(run):
    study = run.study
    pair = Pair.objects.get(a__external_id="t1-x", b__external_id="t1-y")
    answer = member_of(study).get(address(study, f"pairs/{pair.pk}/"))
    clear = answer.context["questions"][0]
    assert [(vote["participant"], vote["answer"]) for vote in clear["votes"]] == [
        ("w1", "a"),
        ("w2", "a"),
        ("w3", "a"),
        ("w4", "b"),
    ]
    trusted = {vote["participant"]: vote["competence"] for vote in clear["votes"]}
    assert trusted["w4"] == min(trusted.values())
    assert answer.context["reverse"] == Pair.objects.get(a__external_id="t1-y", b__external_id="t1-x")


def test_pair_page_escapes_texts_and_marks_surplus_votes():
    study = StudyFactory()
    small_study.responses(study)
    study.responses.filter(external_id="t1-x")._raw_delete(study.responses.db)
    from tests.factories import ResponseFactory

    hostile = ResponseFactory(
        topic=study.topics.get(external_id="t1"), external_id="t1-x", text="<script>alert(1)</script> & more"
    )
    small_study.campaign(study, k=3)
    analyse(study)
    pair = Pair.objects.get(a=hostile, b__external_id="t1-y")
    text = member_of(study).get(address(study, f"pairs/{pair.pk}/")).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in text
    assert "<script>alert(1)" not in text
    assert text.count("not in agreement</span>") == 2


def test_grades_of_responses_stand_by_topic(run):
    study = run.study
    answer = member_of(study).get(address(study, "grades/?topic=t1"))
    assert [group["topic"] for group in answer.context["groups"]] == ["t1"]
    members = answer.context["groups"][0]["members"]
    grades = {
        row["response"]: row["grade"] for row in run.tables.get(name="grades").rows if row["dimension"] == "clear"
    }
    shown = {member["response"].external_id: member["cells"][0]["grade"] for member in members}
    assert shown == {name: grade for name, grade in grades.items() if name.startswith("t1")}
    assert f'href="/studies/{study.slug}/responses/t1-x/"' in answer.content.decode()


def test_tables_are_sent_in_each_format(run):
    study = run.study
    client = member_of(study)

    def sent(form, media_type):
        answer = client.get(address(study, f"tables/competence.{form}?run={run.key}"))
        assert (answer.status_code, answer["Content-Type"]) == (200, media_type)
        assert answer["Content-Disposition"] == f'attachment; filename="{study.slug}-competence.{form}"'
        return answer.content.decode()

    assert json.loads(sent("json", "application/json")) == run.tables.get(name="competence").rows
    assert len(list(csv.DictReader(io.StringIO(sent("csv", "text/csv; charset=utf-8"))))) == 8
    assert "tabular" in sent("tex", "application/x-tex; charset=utf-8")


def test_what_is_no_table_or_chart_is_not_found(run):
    client = member_of(run.study)
    for name in ("tables/nothing.csv", "tables/gold.exe", "charts/nothing.svg", "charts/grades.exe",
                 "charts/grades.svg?theme=pink"):  # fmt: skip
        assert client.get(address(run.study, name)).status_code == 404, name


@pytest.mark.parametrize("name", ["agreement", "competence", "grades"])
def test_charts_are_drawn_and_kept(run, name):
    client = member_of(run.study)
    for form, media_type, start in (
        ("svg", "image/svg+xml", b"<svg"),
        ("png", "image/png", b"\x89PNG"),
        ("json", "application/json", b"{"),
    ):
        page = address(run.study, f"charts/{name}.{form}")
        answer = client.get(page, {"run": str(run.key), "theme": "dark"})
        assert (answer["Content-Type"], answer.content[: len(start)]) == (media_type, start)
        assert set(answer["Cache-Control"].split(", ")) == {"private", "immutable", "max-age=31536000"}
        again = client.get(page, {"run": str(run.key), "theme": "dark"}, headers={"if-none-match": answer["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert "immutable" not in client.get(page)["Cache-Control"]
    assert client.get(page, {"theme": "light"})["ETag"] != answer["ETag"]


QUERIES = {
    "": 11, "competence/": 13, "grades/": 13, "pairs/": 14, "leaderboard/": 10, "writing/": 12,
    "order/": 10, "metrics/": 17, "models/": 10, "report/": 22, "analyses/": 13,
}  # fmt: skip


@pytest.mark.parametrize("pairs", [1, 3])
def test_pages_take_the_same_queries_for_one_and_three(pairs):
    votes = dict.fromkeys(list(VOTES)[2 : 2 + pairs], ("AAAB", "BBAN"))
    study = small_study.make(votes)
    analyse(study)
    client = member_of(study)
    taken = {}
    for part in QUERIES:
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(address(study, part))
        taken[part] = len(captured)
        assert answer.context["run"] is not None, part
    assert taken == QUERIES


@pytest.mark.parametrize("judges", [1, 3])
def test_pair_and_participant_take_the_same_queries_for_one_and_three_judges(judges, django_assert_num_queries):
    study = small_study.make({("t1-x", "t1-y"): ("AABB"[: judges + 1], "ANBN"[: judges + 1])})
    analyse(study)
    client = member_of(study)
    pair, person = study.pairs.get(), study.participants.get(external_id="w1")
    with django_assert_num_queries(19):  # the last one notes who looked
        client.get(address(study, f"pairs/{pair.pk}/"))
    with django_assert_num_queries(15):
        client.get(address(study, f"competence/{person.pk}/"))


def test_home_shows_the_agreement_of_the_latest_analysis(run):
    study = run.study
    alpha = f"{abs(Table.objects.get(run=run, name='agreement_means').rows[0]['alpha']):.2f}"
    client = member_of(study)
    home = f"/studies/{study.slug}/"
    analysing.start(study=study, parameters=QUICK)
    assert alpha in client.get(home).content.decode()
    Run.objects.filter(study=study).delete()
    assert alpha not in client.get(home).content.decode()


def test_simulated_crowds_are_marked_wherever_they_show(study):
    Assignment.objects.update(is_included=True)
    study.campaigns.update(is_simulated=True)
    analyse(study)
    client = member_of(study)
    for part in PAGES:
        assert "simulated</span>" in client.get(address(study, part)).content.decode()
