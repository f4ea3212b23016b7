"""Pages of results in every state; what they show of the demo study is golden (tests/golden)."""

import csv
import io
import json
import uuid
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from analysis.analyses import services, views
from analysis.methods import agreement, registry
from analysis.models import ResultTable
from annotation.models import Judgment, Pair
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Participant, Study
from tests.analysis import small_study
from tests.analysis.page_visits import client_of, results, visit
from tests.analysis.small_study import QUICK, VOTES, analyse
from tests.factories import MembershipFactory, ResponseFactory, StudyFactory

pytestmark = pytest.mark.django_db
PAGES = ("", "competence/", "grades/", "metrics/", "pairs/", "order/", "models/")


@pytest.fixture
def study(run: Run) -> Study:
    """The study before it was analysed."""
    run.delete()
    return Study.objects.get(pk=run.study_id)


def shown(client, study: Study, page: str = "") -> str:
    return client.get(results(study, page)).content.decode()


def test_pages_offer_an_analysis_to_editors_where_there_is_something_to_analyse(study):
    start = f'action="{results(study, "analyse/")}"'
    empty = StudyFactory()
    nobody, viewer, editor = client_of(empty, Role.EDITOR), client_of(study), client_of(study, Role.EDITOR)
    for page in PAGES:
        answer = nobody.get(results(empty, page))
        assert (answer.status_code, answer.context["run"]) == (200, None), page
        assert 'action="/studies' not in answer.content.decode(), page
        assert start in shown(editor, study, page), page
    assert start not in shown(viewer, study)
    # While the first one is at work, pages lead to it instead.
    run = services.start(study=study, parameters=QUICK)
    for page in PAGES:
        text = shown(editor, study, page)
        assert f"/studies/{study.slug}/runs/{run.key}/" in text, page
        assert start not in text, page


def test_a_failed_run_stands_with_its_reason_beside_the_earlier_results(run):
    services.start(study=run.study, parameters=QUICK)
    Run.objects.exclude(pk=run.pk).update(
        state=RunState.FAILED, error="The disk is full.", started_at=run.started_at, finished_at=run.finished_at
    )
    text = shown(client_of(run.study), run.study)
    assert "The disk is full." in text
    assert f"?run={run.key}" in text


def test_start_begins_a_run_with_what_was_asked_for(study):
    client = client_of(study, Role.EDITOR)
    given = {"bootstrap": "refit", "resample": "topics+workers", "grades_from": "votes"}
    answer = client.post(results(study, "analyse/"), given | {"seed": "7", "resamples": "50", "k": ""})
    run = Run.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/studies/{study.slug}/runs/{run.key}/")
    assert (run.seed, run.parameters["resamples"], run.parameters["k"]) == (7, 50, None)
    assert run.parameters.items() >= given.items()
    assert run.created_by.email
    client.post(results(study, "analyse/"), {"bootstrap": "", "resample": ""})
    usual = Run.objects.latest("pk").parameters
    assert (usual["bootstrap"], usual["resample"]) == ("conditional", "topics")


def test_a_bad_parameter_is_refused_where_it_stands_and_all_that_was_typed_stays(run):
    study, client = run.study, client_of(run.study, Role.EDITOR)
    for given in ({"resamples": "0"}, {"spam_threshold": "2"}, {"bootstrap": "sometimes"}):
        answer = client.post(results(study, "analyse/"), given | {"seed": "41"})
        assert (answer.status_code, set(answer.context["form"].errors)) == (422, set(given))
        text = answer.content.decode()
        assert 'value="41"' in text
        assert '<details class="more" open>' in text
    empty = StudyFactory()
    answer = client_of(empty, Role.EDITOR).post(results(empty, "analyse/"), follow=True)
    assert [message.level_tag for message in answer.context["messages"]] == ["error"]
    assert list(Run.objects.all()) == [run]


def test_runs_pairs_and_people_of_another_study_are_not_found(run):
    other = StudyFactory()
    client = client_of(other)
    pair, person = Pair.objects.first().pk, Participant.objects.first().pk
    for page in (f"?run={run.key}", f"tables/gold.json?run={run.key}", f"pairs/{pair}/", f"competence/{person}/"):
        assert client.get(results(other, page)).status_code == 404, page


def test_pages_warn_when_judgments_have_changed(run):
    client = client_of(run.study, Role.EDITOR)
    assert "note--warn" not in shown(client, run.study)
    judgment = Judgment.objects.first()
    Judgment.objects.filter(pk=judgment.pk).update(value=-judgment.value or 1)
    answer = client.get(results(run.study))
    assert (answer.context["state"].changed, answer.context["state"].added) == (True, 0)
    assert "note--warn" in answer.content.decode()


def test_an_older_run_can_be_read_and_links_stay_with_it(run):
    study = run.study
    analyse(study, seed=1)
    Run.objects.filter(pk=run.pk).update(parameters={})  # as runs were before there were parameters
    answer = visit(study, f"?run={run.key}")
    assert answer.context["run"] == run
    assert f'href="{results(study, "grades/")}?run={run.key}"' in answer.content.decode()
    for key in (uuid.uuid4(), "nonsense"):
        assert client_of(study).get(results(study, f"?run={key}")).status_code == 404


@pytest.mark.extended
def test_of_too_little_data_pages_open_and_there_is_no_chart():
    study = small_study.make({("t1-x", "t1-y"): ("AAA",)}, dimensions=["clear"])
    analyse(study)
    for page in (*PAGES, f"pairs/{study.pairs.get().pk}/"):
        visit(study, page)
    assert visit(study).context["notes"]
    assert client_of(study).get(results(study, "charts/agreement.svg")).status_code == 404


@pytest.mark.extended
def test_answers_that_agreement_leaves_out_are_marked_and_counted(study):
    Judgment.objects.filter(assignment__participant__external_id="w1").order_by("pk")[0].delete()
    analyse(study, k=3)
    person = Participant.objects.get(external_id="w4")
    context = visit(study, f"competence/{person.pk}/").context
    own, other = context["summary"]
    assert own["judgments"] == other["judgments"] == 7
    assert own["count_a"] + own["count_n"] + own["count_b"] == own["labelled"] == 7
    assert sum(not pair["cells"][0]["counted"] for pair in context["pairs"]) == 6
    assert visit(study).context["surplus"] == 13
    analyse(study)
    assert visit(study).context["surplus"] == 0


def test_participants_pairs_and_grades_are_sorted_and_filtered(run):
    def shown_rows(page: str, name: str) -> list:
        return list(visit(run.study, page).context[name])

    people = shown_rows("competence/?sort=participant", "page")
    assert [person["participant"] for person in people] == ["w1", "w2", "w3", "w4"]
    assert shown_rows("competence/?sort=-clear", "page")[0]["participant"] == "w4"
    (person,) = shown_rows("competence/?text=W2", "page")
    assert person["id"] == Participant.objects.get(external_id="w2").pk
    assert shown_rows("competence/?text=zzz", "page") == []
    gold = run.tables.get(name="gold").rows
    labelled = [row for row in gold if (row["dimension"], row["label"]) == ("clear", "a")]
    wanted = {(row["response_a"], row["response_b"]) for row in labelled if row["response_a"].startswith("t1")}
    rows = shown_rows("pairs/?topic=t1&dimension=clear&label=a", "rows")
    counts = {(row["response_a"], row["response_b"]): row["counts"] for row in rows}
    assert set(counts) == wanted
    assert counts["t1-x", "t1-y"] == (3, 0, 1)
    certain = [row["certainty"] for row in shown_rows("pairs/?sort=-certainty", "rows")]
    assert certain == sorted(certain, reverse=True)
    assert shown_rows("pairs/?topic=none", "rows") == []
    assert [group["topic"] for group in shown_rows("grades/?topic=t1", "groups")] == ["t1"]


def test_pair_page_escapes_texts_and_marks_surplus_votes():
    study = StudyFactory()
    small_study.responses(study)
    study.responses.filter(external_id="t1-x")._raw_delete(study.responses.db)
    topic = study.topics.get(external_id="t1")
    hostile = ResponseFactory(topic=topic, external_id="t1-x", text="<script>alert(1)</script> & more")
    small_study.campaign(study, k=3)
    analyse(study)
    pair = Pair.objects.get(a=hostile, b__external_id="t1-y")
    answer = visit(study, f"pairs/{pair.pk}/")
    text = answer.content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in text
    assert "<script>alert(1)" not in text
    votes = [vote for question in answer.context["questions"] for vote in question["votes"]]
    assert sum(not vote["counted"] for vote in votes) == 2


def test_tables_are_sent_in_each_format(run):
    study, client = run.study, client_of(run.study)

    def sent(form: str, media_type: str) -> str:
        answer = client.get(results(study, f"tables/competence.{form}?run={run.key}"))
        assert (answer.status_code, answer["Content-Type"]) == (200, media_type)
        assert answer["Content-Disposition"] == f'attachment; filename="{study.slug}-competence.{form}"'
        return answer.content.decode()

    assert json.loads(sent("json", "application/json")) == run.tables.get(name="competence").rows
    assert len(list(csv.DictReader(io.StringIO(sent("csv", "text/csv; charset=utf-8"))))) == 8
    assert "tabular" in sent("tex", "application/x-tex; charset=utf-8")
    for name in ("tables/nothing.csv", "tables/gold.exe", "charts/nothing.svg", "charts/grades.exe",
                 "charts/grades.svg?theme=pink", "charts/grades.svg?size=huge"):  # fmt: skip
        assert client.get(results(study, name)).status_code == 404, name


def test_charts_are_drawn_and_kept(run):
    client = client_of(run.study)
    for form, media_type, start in (
        ("svg", "image/svg+xml", b"<svg"), ("png", "image/png", b"\x89PNG"), ("json", "application/json", b"{"),
    ):  # fmt: skip
        page, query = results(run.study, f"charts/competence.{form}"), {"run": str(run.key), "theme": "dark"}
        answer = client.get(page, query)
        assert (answer["Content-Type"], answer.content[: len(start)]) == (media_type, start)
        assert set(answer["Cache-Control"].split(", ")) == {"private", "immutable", "max-age=31536000"}
        again = client.get(page, query, headers={"if-none-match": answer["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert "immutable" not in client.get(page)["Cache-Control"]
    assert client.get(page, {"theme": "light"})["ETag"] != answer["ETag"]


QUERIES = {
    "": 17, "competence/": 14, "grades/": 15, "pairs/": 16, "leaderboard/": 19, "writing/": 17,
    "order/": 11, "metrics/": 18, "models/": 11, "report/": 26, "analyses/": 14, "pairs/{pair}/": 20,
    "competence/{person}/": 16,
}  # fmt: skip


@pytest.mark.extended
@pytest.mark.parametrize(("pairs", "letters"), [(1, ("AB", "AN")), (3, ("AAAB", "BBAN"))])
def test_pages_take_the_same_queries_for_few_and_many(pairs, letters):
    study = small_study.make(dict.fromkeys(list(VOTES)[2 : 2 + pairs], letters))
    analyse(study)
    client = client_of(study)
    keys = {"pair": study.pairs.first().pk, "person": study.participants.get(external_id="w1").pk}
    taken = {}
    for page in QUERIES:
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(results(study, page.format(**keys)))
        taken[page] = len(captured)
        assert answer.context["run"] is not None, page
    assert taken == QUERIES


def test_home_shows_the_agreement_of_the_latest_analysis(run):
    alpha = f"{abs(ResultTable.objects.get(run=run, name='agreement_means').rows[0]['alpha']):.2f}"
    client, home = client_of(run.study), f"/studies/{run.study.slug}/"
    services.start(study=run.study, parameters=QUICK)
    assert alpha in client.get(home).content.decode()
    Run.objects.filter(study=run.study).delete()
    assert alpha not in client.get(home).content.decode()


def test_simulated_crowds_are_marked_wherever_they_show(study):
    study.campaigns.update(is_simulated=True)
    assert analyse(study).summary["simulated"] is True
    client = client_of(study)
    for page in PAGES:
        assert "badge--sim" in shown(client, study, page), page


def test_a_method_without_a_page_of_its_own_has_one_of_its_tables_and_figures(run, rf):
    method = replace(agreement.METHOD, pages=())
    page = registry.generic_page(method)
    assert [each.path for each in registry.pages([method])] == [page.path]
    request = rf.get("/")
    request.user, request.session, request.csp_nonce = MembershipFactory(study=run.study).user, {}, ""
    text = views.page_view(page)(request, slug=run.study.slug).content.decode()
    for table in method.tables:
        assert f'aria-label="{escape(table.title)}"' in text, table.name
    assert "charts/agreement.svg" in text
