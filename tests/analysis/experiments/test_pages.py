"""Pages of experiments: every state, every role."""

import gzip
import io
import json
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from analysis.tables import run_tables
from crowdrag.jobs import lifecycle, run_files
from crowdrag.jobs.models import Run, Upload
from crowdrag.studies.enums import Role
from tests.analysis.experiments import planted
from tests.analysis.experiments.question_study import furnish
from tests.factories import MembershipFactory, StudyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_broker", "experiment", "endpoint")]
TOLD = {
    "source": "study", "generator": "endpoint:odd", "queries": "0", "others": "0", "seed": "0", "p_k": "2",
    "p_weights": "1", "p_words": "short",
}  # fmt: skip


def member_of(study, role=Role.EDITOR) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def address(study, part="") -> str:
    return f"/studies/{study.slug}/experiments/{part}"


def form_of(study, experiment="planted") -> str:
    return address(study, f"new/{experiment}/")


def started(client, study, **told) -> Run:
    page = client.post(form_of(study), TOLD | told)
    order = page.context["order"]
    answer = client.post(form_of(study), TOLD | told | {"start": order.digest})
    run = Run.objects.latest("pk")
    assert answer.headers["Location"].endswith(f"/runs/{run.key}/")
    return run


def test_the_list_offers_the_form_to_editors(study):
    for role in (Role.EDITOR, Role.VIEWER):
        page = member_of(study, role).get(address(study)).content.decode()
        assert ("new/planted/" in page) == (role == Role.EDITOR)


def test_the_estimate_follows_the_form_and_stores_nothing(study, server, paid):
    editor = member_of(study)
    page = editor.post(form_of(study) + "estimate/", TOLD).content.decode()
    assert "<html" not in page
    assert 'name="start"' in page
    assert "<dd>10</dd>" in page
    assert "USD\N{NO-BREAK SPACE}0.0052" in page  # 200 tokens in at 1,000, 160 out at 2,000 a million
    wrong = editor.post(form_of(study) + "estimate/", TOLD | {"p_k": "9"})
    assert list(wrong.context["form"].errors) == ["p_k"]
    assert 'name="start"' not in wrong.content.decode()
    assert server.seen == []
    assert not Run.objects.exists()


def test_what_starts_is_what_was_estimated(study):
    editor = member_of(study)
    digest = editor.post(form_of(study), TOLD).context["order"].digest
    again = editor.post(form_of(study), TOLD | {"p_k": "3", "start": digest})
    assert again.status_code == 200  # another order: it is estimated first
    assert not Run.objects.exists()
    run = started(editor, study, p_k="3", p_weights="1, 0.5", p_is_strict="on")
    assert run.parameters == {
        "collection": {"source": "study", "style": ""}, "generator": "endpoint:odd", "queries": 0,
        "k": 3, "weights": [1.0, 0.5], "is_strict": True, "words": "short", "judge": "",
    }  # fmt: skip
    assert run.created_by is not None


def test_a_form_that_is_wrong_says_which_field_is(study, monkeypatch):
    monkeypatch.setattr("analysis.experiments.forms.MAX_UPLOAD_BYTES", 1000)
    editor, other = member_of(study), furnish(StudyFactory())
    member_of(other).post(form_of(other), TOLD | {"source": "bank", "file": SimpleUploadedFile("a.gz", bank())})
    strange = {"source": "bank", "upload": str(Upload.objects.get().pk)}
    for told, field in (
        ({"p_k": "9"}, "p_k"),
        ({"p_weights": "1, two"}, "p_weights"),
        ({"p_weights": "0.5, 7"}, "p_weights"),
        ({"generator": "endpoint:none"}, "generator"),
        ({"source": "bank"}, "upload"),
        (strange, "upload"),
        ({"source": "lamp"}, "source"),
        ({"source": "bank", "file": io.BytesIO(b" " * 1001)}, "file"),
    ):
        page = editor.post(form_of(study), TOLD | told)
        assert (page.status_code, list(page.context["form"].errors)) == (422, [field]), told
    monkeypatch.setattr("analysis.experiments.services.MOST_QUERIES", 3)
    assert 'name="start"' not in editor.post(form_of(study), TOLD).content.decode()
    assert Upload.objects.count() == 1


def bank(n=3) -> bytes:
    """Some questions of a passage bank."""
    rows = [
        {
            "index": i, "question": "ok:wrong", "answer": f"a{i}", "gpt_false_ans": "x", "llama_false_ans": "y",
            **{name: f"ok:a{i} {name}" for name in (
                "human_true", "gpt_true", "llama_true", "gpt_false", "llama_false", "human_false_gpt",
                "human_false_llama",
            )},
        }
        for i in range(n)
    ]  # fmt: skip
    return gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())


@pytest.mark.extended
def test_a_file_is_stored_once_and_named_by_its_digest(study):
    editor = member_of(study)
    file = SimpleUploadedFile("<b>nq</b>_passages.jsonl.gz", bank())
    page = editor.post(form_of(study), TOLD | {"source": "bank", "others": "2", "file": file})
    assert page.status_code == 200, page.content.decode()
    upload = Upload.objects.get()
    assert page.context["expected"].estimate.queries == 3
    assert "<b>nq" not in page.content.decode()
    assert f'value="{upload.pk}" selected' in page.content.decode()
    told = {"source": "bank", "others": "2", "upload": str(upload.pk)}
    run = started(editor, study, **told)
    assert run.parameters["collection"] == {
        "source": "bank", "upload": upload.pk, "name": upload.name, "sha256": upload.sha256, "others": 2
    }  # fmt: skip
    assert Upload.objects.count() == 1
    run = lifecycle.wait(run)
    assert run.state == "DONE", run.error
    assert "<b>nq" not in editor.get(address(study, f"{run.key}/")).content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_file_that_cannot_be_read_is_not_kept_or_offered(study, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    editor = member_of(study)
    file = SimpleUploadedFile("nq.jsonl", b'{"index": 1}\n')
    page = editor.post(form_of(study), TOLD | {"source": "bank", "file": file})
    assert (page.status_code, list(page.context["form"].errors)) == (422, ["file"])
    assert "nq.jsonl, line 1, question" in page.content.decode()
    for shown in (page, editor.get(form_of(study))):
        assert [value for value, _label in shown.context["form"].fields["upload"].choices] == [""]
    assert not Upload.objects.exists()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_file_is_kept_that_can_be_read_though_its_number_of_other_passages_cannot_be_had(study):
    file = SimpleUploadedFile("nq.jsonl.gz", bank())
    page = member_of(study).post(form_of(study), TOLD | {"source": "bank", "others": "200", "file": file})
    assert 'name="start"' not in page.content.decode()
    assert [upload.name for upload in run_files.reusable_uploads(study)] == ["nq.jsonl.gz"]


def test_a_run_is_shown_in_every_state(study):
    editor = member_of(study)
    run = started(editor, study)
    page = editor.get(address(study, f"{run.key}/")).content.decode()
    assert f"/runs/{run.key}/progress/" in page
    lifecycle.cancel(run=run)
    page = editor.get(address(study, f"{run.key}/")).content.decode()
    assert ("note--bad" in page, "/progress/" in page) == (True, False)
    Run.objects.filter(pk=run.pk).update(state="FAILED", error="<script>alert(1)</script>")
    page = editor.get(address(study, f"{run.key}/")).content.decode()
    assert ("note--bad" in page, "<script>alert" in page) == (True, False)
    run = lifecycle.wait(lifecycle.resume(run=run))
    page = member_of(study, Role.VIEWER).get(address(study, f"{run.key}/")).content.decode()
    for shown in ("the question alone", "0.80", "6</dd>"):  # of the planted one
        assert shown in page
    assert "5 questions were asked twice." in editor.get(address(study, f"{run.key}/?part=methods")).content.decode()
    listed = editor.get(address(study)).content.decode()
    assert f"experiments/{run.key}/" in listed
    assert editor.get(address(study, f"{uuid.uuid4()}/")).status_code == 404
    assert editor.get(address(study) + "?experiment=nothing").status_code == 404


@pytest.mark.extended
def test_every_table_figure_and_report_can_be_downloaded(study):
    client = member_of(study, Role.VIEWER)
    run = lifecycle.wait(started(member_of(study), study))
    results = f"/studies/{study.slug}/results/"
    for form, begins in (("csv", b"condition,score"), ("json", b"["), ("tex", b"%")):
        answer = client.get(f"{results}tables/{planted.TABLE}.{form}?run={run.key}")
        assert (answer.status_code, answer.content[: len(begins)]) == (200, begins)
    for form, begins in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("json", b"{")):
        answer = client.get(f"{results}charts/{planted.TABLE}.{form}?run={run.key}")
        assert (answer.status_code, answer.content[: len(begins)]) == (200, begins)
    for name in ("report.html", "report.pdf", "methods.tex", "references.bib"):
        assert client.get(f"{results}report/{name}?run={run.key}").status_code == 200
    answer = client.post(f"{results}report/build/?run={run.key}")
    packing = lifecycle.wait(Run.objects.get(kind="report"))
    assert answer.headers["Location"].endswith(f"/runs/{packing.key}/")
    assert packing.state == "DONE", packing.error
    page = client.get(f"/studies/{study.slug}/runs/{packing.key}/").content.decode()
    assert f"/experiments/{run.key}/" in page


@pytest.mark.extended
def test_two_runs_of_one_kind_are_compared(study, monkeypatch):
    editor = member_of(study)
    first = lifecycle.wait(started(editor, study))
    second = lifecycle.wait(started(editor, study, p_k="1", seed="5", queries="4"))
    page = editor.get(address(study, f"compare/?a={first.key}&b={second.key}"))
    changed = {str(each.name): (each.old, each.new) for each in page.context["comparison"].made_by}
    assert changed["Documents"] == ("2", "1")  # as the form calls it, not by the name that it has in the code
    assert "k" not in changed
    same = editor.get(address(study, f"compare/?a={first.key}&b={first.key}"))
    assert same.context["comparison"].is_equal
    assert "comparison" not in editor.get(address(study, "compare/")).context
    Run.objects.filter(pk=second.pk).update(kind="experiment.other")
    answer = editor.get(address(study, f"compare/?a={first.key}&b={second.key}"), follow=True)
    assert next(message.level_tag for message in answer.context["messages"]) in {"error", "warning"}
    # Nobody registers that kind here: what it found cannot be told.
    assert "report" not in editor.get(address(study, f"{second.key}/")).context
    assert editor.get(address(study, "compare/?a=nothing")).status_code == 404


@pytest.mark.extended
def test_several_runs_are_set_beside_each_other(study):
    editor = member_of(study)
    runs = [lifecycle.wait(started(editor, study, p_k=k, seed=k)) for k in ("1", "2", "3")]

    def beside(*chosen: Run, n: int = 1):
        keys = [run.key for run in chosen] * n
        return editor.get(address(study, "compare/?" + "&".join(f"run={key}" for key in keys)), follow=True)

    answer = beside(*runs)
    assert [(letter, row.run.seed) for letter, row in answer.context["runs"]] == [("A", 1), ("B", 2), ("C", 3)]
    (table,) = (each for each in answer.context["tables"] if each.name == planted.TABLE)
    told = {(*line.about, line.column): [str(value) for value in line.values] for line in table.lines}
    scores = [{row["condition"]: row for row in run_tables.read(run, planted.TABLE)[planted.TABLE]} for run in runs]
    for condition, said in (("bare", "the question alone"), ("full", "with documents")):
        line = told[said, "Exact match"]
        assert [each.split()[0] for each in line] == [f"{each[condition]['score']:.2f}" for each in scores]
    assert f"/experiments/{runs[0].key}/" in answer.content.decode()
    assert beside(runs[0], n=2).redirect_chain
    Run.objects.filter(pk=runs[2].pk).update(kind="experiment.other")
    assert beside(*runs).redirect_chain
    Run.objects.update(kind="experiment.other")  # which nobody registers here
    assert beside(*runs).redirect_chain
    assert editor.get(address(study, "compare/?run=nothing")).status_code == 404


@pytest.mark.extended
def test_a_run_is_made_again_a_little_otherwise(study):
    editor = member_of(study)
    run = started(editor, study, p_k="4", p_words="long", seed="7")
    page = editor.get(form_of(study) + f"?like={run.key}")
    assert page.context["form"]["p_k"].value() == 4
    assert page.context["form"]["p_words"].value() == "long"
    assert page.context["form"]["seed"].value() == 7
    assert editor.get(form_of(study) + f"?like={uuid.uuid4()}").status_code == 404


@pytest.mark.extended
def test_many_runs_come_a_page_at_a_time(study):
    for _each in range(27):
        Run.objects.create(study=study, kind="experiment.planted", created_at="2026-01-01T00:00Z", parameters={})
    client = member_of(study, Role.VIEWER)
    for query, shown in (("", 5), ("?experiment=planted", 25), ("?experiment=planted&page=2", 2)):
        offered = client.get(address(study) + query).context["offered"]
        assert [len(each.rows) for each in offered if each.rows] == [shown], query
