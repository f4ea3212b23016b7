"""What we write, `autojudge-base` reads as it reads the original; what it writes, we read."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from writing.corpus.formats import conversion
from writing.corpus.formats.format_registry import get, recognise
from writing.corpus.formats.values import Part
from writing.corpus.imports.problems import Problems
from writing.corpus.imports.sources import of_path

pytestmark = pytest.mark.extended  # importing the library takes seconds
DATA = Path(__file__).parents[3] / "data" / "formats"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The library. It needs word lists of NLTK when it is imported, and would download them."""
    nltk = pytest.importorskip("nltk")
    folder = tmp_path_factory.mktemp("nltk")
    words = folder / "corpora" / "stopwords" / "english"
    words.parent.mkdir(parents=True)
    words.write_text("the\n")
    nltk.data.path.insert(0, str(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk, "download", lambda *_args, **_options: False)
        return pytest.importorskip("autojudge_base")


def part(library: Any, name: str) -> Any:
    return importlib.import_module(f"{library.__name__}.{name}")


def rewritten(path: Path, tmp_path: Path, suffix: str) -> Path:
    """Read a file and write it again in its format."""
    member = of_path(path)
    converted = conversion.convert(member, recognise(member))
    assert (converted.set_aside, converted.lost) == (0, {})
    out = tmp_path / f"rewritten{suffix}"
    out.write_bytes(converted.data)
    return out


@pytest.mark.parametrize("name", ["spot-check-run.jsonl", "spot-check-local-run.jsonl"])
def test_reports_are_equal(library: Any, tmp_path: Path, name: str) -> None:
    load = part(library, "report").load_report
    before, after = (load(path) for path in (DATA / name, rewritten(DATA / name, tmp_path, ".jsonl")))

    assert [one.model_dump() for one in before] == [one.model_dump() for one in after]


def test_answers_of_2025_pass_the_checks_of_their_track(library: Any, tmp_path: Path) -> None:
    name = "msmarco_v2.1_doc_29_677149#3_1637632"
    metadata = {
        "team_id": "a",
        "run_id": "b",
        "type": "automatic",
        "narrative_id": 14,
        "narrative": "What do shells do?",
    }
    record = {"metadata": metadata, "references": [name], "answer": [{"text": "They bear loads.", "citations": [0]}]}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(record) + "\n")
    load = part(library, "report").load_report
    [before], [after] = load(path), load(rewritten(path, tmp_path, ".jsonl"))

    assert before.check("rag25") == after.check("rag25") == []
    as_text = {"narrative_id": "14", "request_id": "14"}
    assert after.model_dump() == before.model_dump() | {"metadata": before.metadata.model_dump() | as_text}


def test_reports_become_answers_of_2025(library: Any, tmp_path: Path) -> None:
    load = part(library, "report").load_report
    [report] = load(DATA / "spot-check-run.jsonl")
    path = tmp_path / "run.jsonl"
    path.write_bytes(conversion.convert(of_path(DATA / "spot-check-run.jsonl"), get("trec-rag25")).data)
    [ours] = load(path)

    assert [(s.text, s.citations) for s in ours.get_sentences_with_citations()] == [
        (s.text, s.citations) for s in report.get_sentences_with_citations()
    ]
    assert {type(sentence).__name__ for sentence in ours.answer if sentence.citations} == {"Rag24ReportSentence"}


def test_requests_and_documents_are_equal(library: Any, tmp_path: Path) -> None:
    load = part(library, "request").load_requests_from_file
    path = DATA / "spot-check-requests.jsonl"

    assert load(rewritten(path, tmp_path, ".jsonl")) == load(path)

    documents = part(library, "document.document").load_documents(
        rewritten(DATA / "spot-check-corpus.jsonl.gz", tmp_path, ".documents")
    )
    assert sorted(document.id for document in documents) == ["1", "224", "279"]


def test_leaderboards_are_equal(library: Any, tmp_path: Path) -> None:
    load = part(library, "leaderboard").Leaderboard.load
    path = DATA / "spot-check-leaderboard.txt"
    before = load(path, format="tot")

    for order in ("tot", "ir_measures", "rag4reports", "jsonl"):
        out = tmp_path / f"board-{order}"
        out.write_bytes(conversion.convert(of_path(path), get(f"leaderboard-{order.replace('_', '-')}")).data)
        after = load(out, format=order)
        assert [(e.run_id, e.topic_id, e.values) for e in after.entries] == [
            (e.run_id, e.topic_id, e.values) for e in before.entries
        ]


def test_qrels_are_equal(library: Any, tmp_path: Path) -> None:
    qrels = part(library, "qrels.qrels")
    path = tmp_path / "a.qrels"
    rows = [qrels.QrelRow("28", "279", 3), qrels.QrelRow("28", "a", 0), qrels.QrelRow("29", "a", -1)]
    qrels.write_qrel_file(qrel_out_file=path, qrels=qrels.Qrels(rows))

    assert qrels.read_qrel_file(rewritten(path, tmp_path, ".qrels")) == qrels.read_qrel_file(path)


def test_nugget_banks_are_equal(library: Any, tmp_path: Path) -> None:
    data = part(library, "nugget_data")
    model = part(library, "nugget_data.nugget_data")
    creator = model.Creator(is_human=True, assessor_id="a-7", contact=["somebody"])
    reference = model.Reference(
        doc_id="279", text="shells", offsets=model.Offsets(start_offset=0, end_offset=6, encoding="utf-8")
    )
    question = model.NuggetQuestion.from_lazy(query_id="28", question="What for?", gold_answers=["wings", "shells"])
    question.add_creator(creator)
    question.answers["shells"].references = [reference]
    question.importance = 2
    question.sub_nuggets = [model.NuggetClaim.from_lazy(query_id="28", claim="Wings are curved.")]
    claim = model.NuggetClaim.from_lazy(query_id="28", claim="Wings lift.", references=["224"])
    bank = model.NuggetBank(query_id="28", title_query="wings", metadata={"year": 2026})
    bank.add_nuggets([question, claim])
    path = tmp_path / "nuggets.jsonl"
    data.write_nugget_banks(data.NuggetBanks.from_banks_list([bank]), path)
    after = data.load_nugget_banks_from_file(rewritten(path, tmp_path, ".jsonl"))

    assert after == data.load_nugget_banks_from_file(path)
    assert after.verify(expected_topic_ids=["28"]) is None


def test_assignments_are_equal_and_become_a_bank(library: Any, tmp_path: Path) -> None:
    data = part(library, "nugget_data.nuggetizer")
    nuggets = [
        data.NuggetizerNugget(text="Wings lift.", importance="vital", assignment="support"),
        data.NuggetizerNugget(text="Wings are curved.", importance="okay", assignment="not_support", reasoning="no"),
    ]
    path = tmp_path / "assigned.jsonl"
    banks = data.NuggetizerNuggetBanks.from_banks_list(
        [data.NuggetizerNuggetBank(query="wings", qid="28", nuggets=nuggets)]
    )
    data.write_nuggetizer_banks(banks, path)

    assert data.load_nuggetizer_banks_from_file(rewritten(path, tmp_path, ".jsonl")) == banks

    converted = conversion.convert(of_path(path), get("autojudge-nuggets"))
    assert converted.lost == {Part.ASSIGNMENTS: 1, Part.EXTRA: 1}
    out = tmp_path / "bank.jsonl"
    out.write_bytes(converted.data)
    [bank] = part(library, "nugget_data").load_nugget_banks_from_file(out).banks.values()
    assert {claim.claim: claim.importance for claim in bank.claim_bank.values()} == {
        "Wings lift.": "vital",
        "Wings are curved.": "okay",
    }


def test_what_the_library_dumps_is_read(library: Any, tmp_path: Path) -> None:
    report = part(library, "report")
    [original] = report.load_report(DATA / "spot-check-run.jsonl")
    path = tmp_path / "dump.jsonl"
    report.write_pydantic_json_list([original], path)
    member = of_path(path)

    assert recognise(member).name == "autojudge-reports"
    problems = Problems()
    [value] = recognise(member).read(member, problems).values
    assert (value.run, value.topic, len(value.sentences)) == ("my_best_run_02_citations", "28", 3)
    assert problems.found == []
