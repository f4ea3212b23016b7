"""Self-preference as a run: planted preferences come out, what cannot be read is counted, a study's own responses."""

import json

import pytest
from django.core.management import call_command

from analysis.experiments import generators, question_sets, services
from analysis.experiments.experiment import BadParameterError, get
from analysis.experiments.self_preference.parameters import SelfPreferenceParameters
from analysis.models import ResultTable
from analysis.rag.collections import passages_by_author
from analysis.rag.protocols import Output
from analysis.reports import builder
from crowdrag.jobs import kinds, lifecycle, run_files
from tests.analysis.cases import check_each
from tests.analysis.rag.self_preference import planted
from tests.factories import ParticipantFactory, ResponseFactory, StudyFactory, StyleFactory, TopicFactory
from writing.enums import Origin

pytestmark = pytest.mark.django_db
N = 4


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)


@pytest.fixture
def study():
    return StudyFactory(llm_budget=1_000_000)


@pytest.fixture
def evaluator(monkeypatch):
    made = planted.Evaluator()
    monkeypatch.setattr(generators, "generator", lambda *_args, **_named: made)
    return made


def bank(study, tmp_path, queries):
    path = tmp_path / "planted.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in passages_by_author.write(queries)))
    return services.of_upload(study, "passages", run_files.store_upload(study=study, source=path).pk)


def run_it(study, collection, seed=0, **given):
    order = services.order(
        get("self_preference"), study, {"generator": "endpoint:odd", "collection": collection, **given}, seed=seed
    )
    return order, lifecycle.wait(services.start(order))


def rows(run, name):
    return ResultTable.objects.get(run=run, name=f"self_preference_{name}").rows


def test_planted_preferences_come_out(study, evaluator, tmp_path):
    collection = bank(study, tmp_path, [planted.question(i) for i in range(N)])
    order, run = run_it(study, collection, author="gpt", resamples=200)
    assert run.state == "DONE", run.error
    pairs = {(row["case"], row["other"], row["presentation"]): row for row in rows(run, "pairs")}
    assert pairs["same", "human", "both"]["own"] == pairs["same", "human", "both"]["front"] == 0.75
    levels = {row["level"]: row["factual"] for row in rows(run, "by_knowledge")}
    assert levels == {"none": 0.5, "partial": 1.0, "full": 1.0, "all": 0.875}
    tests = {(row["setting"], row["comparison"], row["author"]): row for row in rows(run, "rating_tests")}
    assert tests["plain", "both_true", "gpt"]["difference"] == -1.5
    assert tests["rag", "both_true", "gpt"]["p"] is None
    assert tests["rag", "both_true", "gpt"]["note"]
    assert {row["outcome"] for row in rows(run, "outcomes")} == {"at_once"}
    # What was estimated is what was asked, each once.
    assert services.forecast(order).estimate.calls == len(set(evaluator.asked)) == len(evaluator.asked)
    # 5 tries, 7 passages under 2 prompts, 2 others in 4 cases and 2 styles, each in both orders.
    assert len(evaluator.asked) == N * (5 + 14 + 2 * (2 * 4 + 2))
    # Equal inputs and seed make equal rows; other resamples make other intervals of the same shares.
    again, other = (run_it(study, collection, author="gpt", resamples=200, seed=seed)[1] for seed in (0, 1))
    tables = [dict(ResultTable.objects.filter(run=each).values_list("name", "rows")) for each in (run, again)]
    assert tables[0] == tables[1]
    assert rows(other, "pairs") != rows(run, "pairs")
    assert [row["own"] for row in rows(other, "pairs")] == [row["own"] for row in rows(run, "pairs")]
    report = builder.report(run)
    named = [table.name for section in report.sections for table in section.tables]
    assert named[:2] == ["self_preference_ratings", "self_preference_rating_tests"]
    assert {chart.name for section in report.sections for chart in section.charts} == {
        "self_preference_pairs", "self_preference_rating_tests", "self_preference_by_knowledge",
        "self_preference_scores",
    }  # fmt: skip


@pytest.mark.extended
def test_a_model_reads_passages_for_their_perplexity(study, monkeypatch, settings, tmp_path):
    pytest.importorskip("torch", reason="the extra `neural` is not installed")
    from analysis.rag import generation
    from analysis.rag.self_preference import perplexity
    from tests.analysis.rag import tiny

    folder = tiny.gpt2(tmp_path / "gpt2")
    settings.GENERATOR_MODELS = [str(folder)]
    usual, made = generators.generator, planted.Evaluator()
    monkeypatch.setattr(
        generators, "generator",
        lambda given, **on: usual(given, **on) if given["generator"].startswith("model:") else made,
    )  # fmt: skip
    queries = [planted.question(i) for i in range(N)]
    collection = bank(study, tmp_path, queries)
    order, run = run_it(study, collection, author="gpt", parts=["ratings"], perplexity=f"model:{folder}", resamples=100)
    assert run.state == "DONE", run.error
    reader = generation.load(str(folder), generation.Options(device="cpu"))
    texts: dict[tuple[str, str, str], list[str]] = {}
    for each in (passage for query in queries for passage in query.documents):
        truth = "true" if each.is_helpful else "false"
        texts.setdefault((each.author, truth, each.style or "normal"), []).append(each.text)
    shown = {(row["author"], row["truth"], row["style"]): row for row in rows(run, "bank")}
    assert len(texts) == 8
    for key, found in texts.items():
        values = perplexity.perplexities_of(reader, found)
        assert shown[key]["perplexity"] == pytest.approx(values.mean(), rel=1e-4)
        assert shown[key]["perplexity_sd"] == pytest.approx(values.std(ddof=1), rel=1e-3, abs=1e-6)
    assert {row["test"] for row in rows(run, "perplexity")} == {"anova", "tukey"}
    assert rows(run, "perplexity")[0]["n"] == N
    assert services.forecast(order).estimate.seconds > 0


def test_what_cannot_tell_perplexity_is_refused(study, tmp_path, server, endpoint):
    collection = bank(study, tmp_path, [planted.question(0)])
    for named in ("endpoint:odd", "model:/nowhere"):
        given = {"generator": f"endpoint:{endpoint.name}", "collection": collection, "perplexity": named}
        with pytest.raises(BadParameterError):
            services.order(get("self_preference"), study, given, seed=0)
    assert server.seen == []


class Writer(planted.Evaluator):
    """Writes passages, too: its false answer is the planted lie."""

    def _reply(self, prompt):
        text = prompt.messages[0].content
        i = text.rpartition("truth")[2].split()[0].strip('."') if "truth" in text else ""
        if "same structure" in text:
            return f"Answer: lie{i}"
        if "Rewrite" in text:
            return f"[gpt] It is truth{i}." + " And so on." * (100 if "longer" in text else 1)
        if "100 words" in text:
            return f"[gpt] qa: truth{i}." + " And so on." * 20
        return super()._reply(prompt)


def test_the_evaluator_writes_its_passages_first(study, monkeypatch, tmp_path):
    made = Writer()
    monkeypatch.setattr(generators, "generator", lambda *_args, **_named: made)
    queries = [planted.question(i) for i in range(N)]
    people = [
        passages_by_author.replace(q, documents=tuple(p for p in q.documents if p.id == "human_true")) for q in queries
    ]
    collection = bank(study, tmp_path, people)
    parts = ["build", "knowledge", "ratings", "readings"]
    order, run = run_it(study, collection, parts=parts, author="gpt", resamples=100)
    assert run.state == "DONE", run.error
    assert {row["author"] for row in rows(run, "ratings")} == {"gpt", "human"}
    built = {(row["author"], row["truth"], row["style"]): row["passages"] for row in rows(run, "bank")}
    assert built["gpt", "true", "normal"] == built["gpt", "false", "normal"] == built["human", "false", "normal"] == 4
    assert built["gpt", "true", "qa"] == built["gpt", "true", "long"] == 4
    pairs = {(row["case"], row["other"], row["presentation"]): row for row in rows(run, "pairs")}
    assert pairs["same", "human", "both"]["own"] == 0.75
    assert services.forecast(order).estimate.calls == len(set(made.asked))
    asked = len(made.asked)
    with pytest.raises(kinds.InputRejectedError):
        run_it(study, bank(study, tmp_path, queries), parts=parts, author="gpt")
    assert len(made.asked) == asked


def test_an_author_that_the_bank_does_not_know_is_refused_with_those_it_does(study, evaluator, tmp_path):
    collection = bank(study, tmp_path, [planted.question(i) for i in range(2)])
    wrong = services.order(
        get("self_preference"), study, {"collection": collection, "author": "GPT"} | {"generator": "endpoint:odd"}
    )
    with pytest.raises(BadParameterError, match=r"GPT.*gpt.*human"):
        services.forecast(wrong)
    with pytest.raises(kinds.InputRejectedError):
        services.start(wrong)


def test_what_may_have_to_be_asked_for_again_is_told_apart(study, evaluator, tmp_path):
    collection = bank(study, tmp_path, [planted.question(i) for i in range(2)])
    given = {"collection": collection, "author": "gpt", "generator": "endpoint:odd"}
    found, once = (
        services.forecast(services.order(get("self_preference"), study, given | {"attempts": n})).estimate
        for n in (3, 1)
    )
    # What is known is asked five times of each, and never again.
    read = found.calls - 2 * 5
    assert found.most.calls == 2 * 5 + 3 * read
    assert found.most.prompt_tokens > 2 * found.prompt_tokens
    assert str(read) in found.note
    assert (once.calls, once.most, once.note, once.worst) == (found.calls, None, "", once)


class Babbling(planted.Evaluator):
    """Says what nobody can read, whatever binds it."""

    def generate(self, prompts):
        self.asked += prompts
        return [Output("%%% ??") for _prompt in prompts]


@pytest.mark.parametrize("bound", [True, False])
def test_nobody_is_asked_more_than_the_estimate_says(study, monkeypatch, tmp_path, bound):
    made = Babbling()
    monkeypatch.setattr(generators, "generator", lambda *_args, **_named: made)
    collection = bank(study, tmp_path, [planted.question(i) for i in range(2)])
    given = {"author": "gpt", "resamples": 100, "constrained": bound, "constrained_readings": bound}
    order, run = run_it(study, collection, **given)
    assert run.state == "DONE", run.error
    assert len(made.asked) == services.forecast(order).estimate.worst.calls


class Refusing(planted.Evaluator):
    """Says nothing to questions with even numbers, and nonsense to the others."""

    def generate(self, prompts):
        return [
            Output("", error="refused") if int(p.messages[0].content.partition("number ")[2][:1] or 0) % 2 == 0
            else Output("I would rather talk of something else.")
            for p in prompts
        ]  # fmt: skip


def test_refusals_and_nonsense_leave_tables_that_say_so(study, monkeypatch, tmp_path):
    monkeypatch.setattr(generators, "generator", lambda *_args, **_named: Refusing())
    collection = bank(study, tmp_path, [planted.question(i) for i in range(2)])
    _order, run = run_it(study, collection, author="gpt", attempts=2, resamples=100)
    assert run.state == "DONE", run.error
    outcomes = {(row["part"], row["outcome"]): row["count"] for row in rows(run, "outcomes")}
    assert outcomes["readings", "no_text"] == outcomes["readings", "format"] == 20
    assert outcomes["knowledge", "no_text"] == 5
    assert {row["n"] for row in rows(run, "pairs")} == {0}
    assert {row["own"] for row in rows(run, "pairs")} == {None}
    assert not ResultTable.objects.filter(run=run, name="self_preference_ratings").exists()
    builder.report(run)


def test_parameters_that_are_wrong_are_named():
    def check(given, words):
        with pytest.raises(BadParameterError, match=words):
            SelfPreferenceParameters.from_dict(given)

    check_each(
        [
            ({"parts": ["guess"]}, "parts"),
            ({"parts": "build"}, "parts"),
            ({"tries": 0}, "tries.*20"),
            ({"tries": 2.5}, "tries.*20"),
            ({"attempts": True}, "attempts.*10"),
            ({"prompts": 2}, "prompts"),
            ({"author": "human"}, "author"),
            ({"constrained": "yes"}, "constrained"),
            ({"colour": "red"}, "colour"),
        ],
        check,
    )


def test_parameters_are_written_as_they_are_read():
    made = SelfPreferenceParameters.from_dict({"author": "gpt", "parts": ["readings", "build"], "temperature": 1})
    assert made.parts == ("build", "readings")
    assert SelfPreferenceParameters.from_dict(json.loads(json.dumps(made.to_dict()))) == made


@pytest.fixture
def own_study(study):
    """Two topics to which people and a model wrote, and one to which people alone did."""
    styles = [StyleFactory(study=study, name=name) for name in ("essay", "news")]
    person = ParticipantFactory(study=study)
    model = ParticipantFactory(study=study, kind="MODEL", external_id="smol-1", specification={"model": "smol"})
    for i in range(3):
        topic = TopicFactory(study=study, external_id=f"t{i}", query=f"What is number {i}?")
        for style in styles:
            for participant, origin in ((person, Origin.HUMAN), (model, Origin.MODEL))[: 1 if i == 2 else 2]:
                ResponseFactory(
                    study=study, topic=topic, style=style, participant=participant, origin=origin,
                    external_id=f"{origin}-{style.name}-{i}", text=f"In {style.name} it is {i}, says {origin} [0].",
                )  # fmt: skip
    return study


def test_a_study_s_own_responses_are_a_bank(own_study):
    found = question_sets.of_responses(own_study)
    assert [query.id for query in found.queries] == ["t0", "t1"]
    assert found.left_out == (("fewer than two authors", 1),)
    assert {(each.author, each.style, each.is_helpful) for each in found.queries[0].documents} == {
        (author, style, None) for author in ("human", "smol") for style in ("essay", "news")
    }
    assert "[0]" not in found.queries[0].documents[0].text
    assert len(question_sets.of_responses(own_study, "news").queries[0].documents) == 2


class Plain(planted.Evaluator):
    """Rates models 4 and people 3, and always uses the second text."""

    def _reply(self, prompt):
        text = prompt.messages[0].content
        if "Passage 2" in text:
            return "Answer: it;\nAnswer retrieved from which passage: 2"
        return "###4***" if "says MODEL" in text or "says model" in text else "###3***"


@pytest.mark.extended
def test_a_run_on_a_study_s_own_responses(own_study, monkeypatch, tmp_path):
    made = Plain()
    monkeypatch.setattr(generators, "generator", lambda *_args, **_named: made)
    call_command(
        "experiment", "self_preference", study=own_study.slug, generator="endpoint:odd",
        set=["author=smol", "parts=ratings,readings", "resamples=100"], out=tmp_path / "out",
    )  # fmt: skip
    files = (tmp_path / "out").rglob("self_preference_*.json")
    tables = {path.stem: rows for path in files if isinstance(rows := json.loads(path.read_text()), list)}
    tests = {row["setting"]: row for row in tables["self_preference_rating_tests"]}
    assert tests["plain"]["comparison"] == "as_written"
    assert (tests["plain"]["difference"], tests["plain"]["n"]) == (-1.0, 2)
    pairs = {row["presentation"]: row for row in tables["self_preference_pairs"]}
    assert (pairs["both"]["own"], pairs["both"]["front"]) == (0.5, 0.0)
    assert pairs["both"]["n"] == 2 * 2 * 2
