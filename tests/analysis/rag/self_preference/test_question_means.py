"""The published data sets: read, recounted, tested; and our own form of a bank."""

import gzip
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from analysis.rag.collections import passage_banks, passages_by_author
from analysis.rag.collections.fields import BadCollectionError
from analysis.rag.self_preference import bank, descriptive, knowledge
from analysis.rag.self_preference.bank import Flaw
from analysis.rag.self_preference.question_means import Means
from tests.analysis.rag.self_preference import planted

DATA = os.environ.get("CROWDRAG_DATA", "")
needs_data = pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the self-preference data is not here")


@pytest.fixture(scope="module", params=["nq", "marco"])
def given(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("bank") / f"{request.param}.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(Path(DATA, "self_preference").glob(f"{request.param}_*.jsonl.gz")):
            archive.write(file, file.name)
    return passages_by_author.read(path)


def average(queries):
    return Means([query.id for query in queries], np.random.default_rng(0), 200)


@needs_data
def test_a_data_set_is_read_whole(given):
    assert len(given.queries) == 300
    styled = [query for query in given.queries if any(each.style != "normal" for each in query.documents)]
    assert len(styled) == 40
    assert bank.authors(given.queries) == ["gpt", "llama", "human"]
    flaws = [each for query in given.queries for each in bank.usable(query)[1]]
    # LLaMA's passages from question and answer are its long ones, word for word.
    assert sum(why is Flaw.SAME_TEXT for name, why in flaws if name == "llama_qa") > 25
    assert {name for name, why in flaws if why is Flaw.SAME_TEXT} == {"llama_qa"}
    assert len(flaws) < 0.12 * sum(len(query.documents) for query in given.queries)


@needs_data
def test_other_files_are_numbered_otherwise_and_are_matched_by_their_truths(given):
    for query in given.queries:
        for each in query.facts.get("knowledge", {}).values():
            assert each["truth"] == query.answers[0].lower()
    known = sum("knowledge" in query.facts for query in given.queries)
    left_out = dict(given.left_out)
    assert known == {"nq": 259, "marco": 300}[given.name]
    assert left_out == ({} if given.name == "marco" else {
        "answers without a passage to questions that are not in the bank": 82,
        "perplexities of unknown questions": 41,
    })  # fmt: skip


@needs_data
def test_knowledge_levels_follow_from_the_answers(given):
    found = {model: {} for model in ("gpt", "llama")}
    for query in given.queries:
        for model, each in knowledge.stated_knowledge(query).items():
            found[model][query.id] = each
    rows = descriptive.recounted(found, average(given.queries))
    assert [(row["model"], row["measure"]) for row in rows] == [
        (model, measure) for model in found for measure in ("count", "level")
    ]
    assert all(row["agree"] >= 0.97 for row in rows)
    exceptions = descriptive.exceptions(found, {query.id: query for query in given.queries})
    counts = {model: sum(row["model"] == model for row in exceptions) for model in found}
    assert counts == {"nq": {"gpt": 0, "llama": 1}, "marco": {"gpt": 1, "llama": 2}}[given.name]
    # Table 1 of the paper is of 1,000 questions; ours of a sample of them.
    published = {
        "nq": {"gpt": (0.367, 0.441), "llama": (0.524, 0.329)},
        "marco": {"gpt": (0.478, 0.331), "llama": (0.564, 0.29)},
    }
    known = {model: {q: each.recall for q, each in by_question.items()} for model, by_question in found.items()}
    levels = descriptive.knowledge(known, descriptive.GIVEN, average(given.queries))
    share = {(row["model"], row["level"]): row["share"] for row in levels}
    for model, (none, full) in published[given.name].items():
        assert share[model, "none"] == pytest.approx(none, abs=0.09)
        assert share[model, "full"] == pytest.approx(full, abs=0.09)


@needs_data
def test_perplexities_differ_as_published(given):
    rows = descriptive.perplexities(given.queries, ["gpt", "llama", "human"])
    assert (rows[0]["test"], len(rows)) == ("anova", 4)
    assert rows[0]["p"] < 0.05
    by_pair = {(row["first"], row["second"]): row for row in rows[1:]}
    # Table 2: both models below people, at 0.05.
    assert all(by_pair[model, "human"]["difference"] < 0 for model in ("gpt", "llama"))
    assert by_pair["llama", "human"]["p"] < 0.05
    assert max(by_pair[model, "human"]["p_paired"] for model in ("gpt", "llama")) < 0.05


@needs_data
def test_the_bank_in_numbers(given):
    flaws = {query.id: bank.usable(query)[1] for query in given.queries}
    rows = {
        (r["author"], r["truth"], r["style"]): r for r in descriptive.bank(given.queries, flaws, average(given.queries))
    }
    # Table 2: words of questions and of people's passages.
    words = {"nq": (9.2, 100.0), "marco": (6.6, 68.5)}[given.name]
    assert rows["question", "", ""]["words"] == pytest.approx(words[0], abs=1.0)
    assert rows["human", "true", "normal"]["words"] == pytest.approx(words[1], abs=6)
    assert rows["human", "true", "normal"]["perplexity"] > rows["llama", "true", "normal"]["perplexity"]


def published(i):
    """A question of a bank as published, with passages that hold their answers."""
    texts = {field: f"{field} of {i}" for field in passage_banks.FIELDS}
    return {"index": i, "question": f"What is {i}?", "answer": f"true{i}", "gpt_false_ans": f"g{i}"} | texts | {
        "llama_false_ans": f"l{i}"
    }  # fmt: skip


def repository(path, data_sets):
    """An archive of files as the authors' repository has them: arrays in JSON files in folders, and what is no data.

    `data_sets`: by name the rows of passages, styles, answers by model, and perplexities, as JSON lines have them.
    """
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("repo/README.md", "# Read me")
        archive.writestr("repo/data/reading_comprehension_data_llama_1000.json", json.dumps([{"ai_true": "x"}]))
        archive.writestr("repo/package.json", json.dumps({"name": "x"}, indent=1))
        archive.writestr("__MACOSX/repo/._nq-both-true.json", "nothing")
        for name, (passages, styles, answers, perplexities) in data_sets.items():
            folder = "repo/Generation Phase"
            archive.writestr(f"{folder}/data/{name}-both-true.json", json.dumps(passages, indent=4))
            archive.writestr(f"{folder}/data/{name}-writing-style.json", json.dumps(styles))
            for model, rows in answers.items():
                tries = [
                    {"ground_truth": row["truth"], "AI_answer": each, "truth_set": []}
                    for row in rows
                    for each in row["answers"]
                ]
                levels = [row["correct_of_5"] for row in rows]
                held = {"distribution": [0] * 6, "knowledge_level": levels, "ai_answers": tries}
                file = f"{folder}/results/{name}_knowledge_scale_of_5_{model}.json"
                archive.writestr(file, json.dumps(held, indent=4))
            columns = {author: [row[author] for row in perplexities] for author in passage_banks.AUTHORS}
            archive.writestr(f"{folder}/results/{name}_perplexity.json", json.dumps(columns))
            # An earlier try, of other questions: it is not what is taken.
            old = {"knowledge_level": [0], "ai_answers": [{"ground_truth": "else", "AI_answer": ""}] * 5}
            archive.writestr(f"repo/data/{name}_knowledge_scale_of_5_1000_openai.json", json.dumps(old))


@needs_data
def test_the_authors_files_are_read_as_they_are(given, tmp_path):
    def rows(part):
        with gzip.open(Path(DATA, "self_preference", f"{given.name}_{part}.jsonl.gz"), "rt") as file:
            return [json.loads(line) for line in file]

    answers = {model: rows(f"knowledge_{model}") for model in ("openai", "llama")}
    path = tmp_path / f"{given.name}.zip"
    repository(path, {given.name: (rows("passages"), rows("writing_styles"), answers, rows("perplexity_gpt2"))})
    found = passages_by_author.read(path)
    assert found.queries == given.queries
    assert dict(found.left_out) == dict(given.left_out) | {
        "answers without a passage in a second file for the same model": 1
    }


def test_an_archive_of_both_data_sets_gives_the_questions_of_both(tmp_path):
    rows = [published(i) for i in range(3)]
    answers = [{"truth": f"true{i}", "answers": ["x"] * 5, "correct_of_5": i} for i in range(3)]
    perplexities = [dict.fromkeys(passage_banks.AUTHORS, 10.0 + i) for i in range(3)]
    own = (rows, [], {"openai": answers, "llama": answers}, perplexities)
    path = tmp_path / "repository.zip"
    repository(path, {"nq": own, "marco": own})
    found = passages_by_author.read(path)
    assert [query.id for query in found.queries] == [f"{name}-{i}" for name in ("marco", "nq") for i in range(3)]
    for query in found.queries:
        i = int(query.id[-1])
        assert query.facts["perplexity"] == dict.fromkeys(passage_banks.AUTHORS, 10.0 + i)
        assert {model: each["correct"] for model, each in query.facts["knowledge"].items()} == {"gpt": i, "llama": i}


def test_a_bank_alone_is_read_in_both_layouts(tmp_path):
    rows = [published(i) for i in range(3)]
    array, lines = tmp_path / "nq-both-true.json", tmp_path / "nq_passages.jsonl"
    array.write_text(json.dumps(rows, indent=4))
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert (
        passage_banks.read(array).queries == passage_banks.read(lines).queries == passages_by_author.read(array).queries
    )
    array.write_text(json.dumps([rows[0], rows[1] | {"gpt_true": " "}]))
    with pytest.raises(BadCollectionError, match="question 2, gpt_true"):
        passage_banks.read(array)


def test_our_own_form_is_read_as_it_was_written(tmp_path):
    queries = [planted.question(i) for i in range(3)]
    path = tmp_path / "bank.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in passages_by_author.write(queries)))
    assert list(passages_by_author.read(path).queries) == queries


@pytest.mark.parametrize(
    ("documents", "times", "place"),
    [
        ([], 0, "bank.jsonl"),
        ([{"id": "a", "text": "x"}], 1, "line 1, .*author"),
        ([], 2, "line 2, id"),
        ([{"id": "a", "text": "x", "author": "m"}] * 2, 1, "line 1"),
        ([{"id": "a", "text": "x", "author": "m", "is_true": 1}], 1, "line 1, .*is_true"),
    ],
)
def test_files_that_are_wrong_are_refused_with_line_and_field(documents, times, place, tmp_path):
    path = tmp_path / "bank.jsonl"
    path.write_text((json.dumps({"id": "1", "question": "?", "documents": documents}) + "\n") * times)
    with pytest.raises(BadCollectionError, match=place):
        passages_by_author.read(path)


def test_archives_that_are_wrong_are_refused(tmp_path):
    path = tmp_path / "bank.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil/nq_knowledge_llama.jsonl", "")
    with pytest.raises(BadCollectionError):
        passages_by_author.read(path)
    assert not (tmp_path.parent / "evil").exists()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/nq_passages.jsonl", json.dumps(published(0)))
        archive.writestr("b/nq_passages.jsonl", json.dumps(published(0)))
    with pytest.raises(BadCollectionError, match="passages"):
        passages_by_author.read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("nq-both-true.json", "[{")
    with pytest.raises(BadCollectionError, match="nq-both-true"):
        passages_by_author.read(path)


def test_an_archive_may_not_unpack_to_anything(tmp_path, monkeypatch):
    monkeypatch.setattr(passages_by_author, "LARGEST", 10)
    path = tmp_path / "bank.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("nq_passages.jsonl", "x" * 100)
    with pytest.raises(BadCollectionError):
        passages_by_author.read(path)
