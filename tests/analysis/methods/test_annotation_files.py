"""The command that tests judges on files: published data, files with faults, and what it refuses."""

import gzip
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.analysis.published_annotations import FOLDER, JUDGES, NAMES, PEOPLE, needs_data, read

#: Two people and a judge who agree on 30 items, and disagree on some.
ANNA = {f"item {n}": "AB"[n % 2] for n in range(32)}
BEN = {item: "A" if n % 8 == 1 else label for n, (item, label) in enumerate(ANNA.items())}
JUDGE = {item: "B" if n % 8 == 2 else label for n, (item, label) in enumerate(ANNA.items())}


def written(folder: Path, people: object, judges: object, *, packed: bool = False) -> tuple[Path, Path]:
    paths = folder / "people.json", folder / "judges.json"
    for path, content in zip(paths, (people, judges), strict=True):
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return paths


def run(people: Path, judges: Path, out: Path, scoring: str = "accuracy", epsilon: float = 0.2) -> dict:
    call_command("judge_certificate", str(people), str(judges), scoring=scoring, epsilon=epsilon, out=out)
    content: dict = json.loads((out / "alt_test.json").read_text(encoding="utf-8"))
    return content


def set_aside(result: dict) -> dict[tuple[str, str], list[str]]:
    return {(row["file"], row["annotator"]): row["examples"] for row in result["set_aside"]}


@needs_data
@pytest.mark.parametrize("name", NAMES)
def test_the_published_files_give_the_published_results(name, tmp_path):
    data = read(name)
    result = run(FOLDER / name / PEOPLE, FOLDER / name / JUDGES, tmp_path, data.scoring.value, data.epsilon)
    rows = {row["judge"]: row for row in result["rows"]}
    assert rows.keys() == data.published.keys()
    for judge, (rate, advantage) in data.published.items():
        assert rows[judge]["winning_rate"] == pytest.approx(rate, abs=6e-7)
        assert rows[judge]["advantage_probability"] == pytest.approx(advantage, abs=6e-7)
        assert len(rows[judge]["wins"]) == round(rate * len(rows[judge]["p_values"]))
    assert result["set_aside"] == []


def test_faults_are_set_aside_and_the_rest_gives_the_result_of_the_good_files(tmp_path):
    good = run(*written(tmp_path, {"anna": ANNA, "ben": BEN}, {"gpt": JUDGE}), tmp_path / "good")
    anna, ben = json.dumps(ANNA), json.dumps(BEN)
    people = (
        f'{{"anna": {anna[:-1]}, "x1": null, "x2": NaN, "x3": " ", "x4": ["A"], "x5": {{"A": 1}}}}, '
        f'"ben": {ben}, "carl": null, "dora": [1], "emil": {{}}}}'
    )
    judge = json.dumps(JUDGE)[:-1] + ', "elsewhere": "A", "item 31": null}'
    people_file, judge_file = written(tmp_path, people, f'{{"gpt": {judge}, "old": "A"}}', packed=True)
    result = run(people_file, judge_file, tmp_path / "faulty")
    row, before = result["rows"][0], good["rows"][0]
    # All but item 31, for which the judge's last label is missing.
    assert row["items"] == before["items"] - 1
    assert row["p_values"].keys() == before["p_values"].keys() == {"anna", "ben"}
    assert row["dropped"]["items_without_judge"] == {"count": 1, "examples": ["item 31"]}
    assert row["dropped"]["items_of_judge_only"] == {"count": 1, "examples": ["elsewhere"]}
    assert row["dropped"]["annotators_with_few_items"] == {"emil": 0}
    assert {name for _file, name in set_aside(result)} == {"anna", "carl", "dora", "gpt", "old"}
    by_reason = [each["count"] for each in result["set_aside"] if each["annotator"] == "anna"]
    assert sorted(by_reason) == [2, 3]
    assert {item for each in result["set_aside"] for item in each["examples"]} == {
        "x1", "x2", "x3", "x4", "x5", "item 31"
    }  # fmt: skip


def test_numbers_are_needed_for_errors_and_may_be_written_as_text(tmp_path):
    people = {name: {f"i{n}": (n + shift) % 4 for n in range(30)} for name, shift in (("a", 0), ("b", 0), ("c", 1))}
    judge = {f"i{n}": n % 4 for n in range(30)}
    good = run(*written(tmp_path, people, {"m": judge}), tmp_path / "good", "rmse")
    people["a"] |= {"i0": "0", "more": "three", "much": 10**400, "endless": float("inf")}
    result = run(*written(tmp_path, people, {"m": judge}), tmp_path / "faulty", "rmse")
    assert result["rows"][0]["p_values"] == good["rows"][0]["p_values"]
    assert set(set_aside(result)["people.json", "a"]) == {"more", "much", "endless"}


def test_a_file_of_one_judge_needs_no_name(tmp_path):
    named = run(*written(tmp_path, {"anna": ANNA, "ben": BEN}, {"judges": JUDGE}), tmp_path / "named")
    unnamed = run(*written(tmp_path, {"anna": ANNA, "ben": BEN}, JUDGE), tmp_path / "unnamed")
    assert unnamed["rows"] == named["rows"]


def test_the_same_label_twice_counts_once_and_is_reported(tmp_path):
    text = json.dumps({"anna": ANNA, "ben": BEN})
    twice = text.replace('"item 0": "A"', '"item 0": "B", "item 0": "A"', 1)
    result = run(*written(tmp_path, twice, {"gpt": JUDGE}), tmp_path / "twice")
    assert set_aside(result) == {("people.json", "anna"): ["item 0"]}
    assert result["rows"] == run(*written(tmp_path, text, {"gpt": JUDGE}), tmp_path / "once")["rows"]


@pytest.mark.parametrize("number", [29, 30])
def test_nobody_with_enough_items_gives_a_row_with_a_reason(tmp_path, number):
    people = {name: dict(list(labels.items())[:number]) for name, labels in (("anna", ANNA), ("ben", BEN))}
    row = run(*written(tmp_path, people, {"gpt": JUDGE}), tmp_path / "out")["rows"][0]
    assert (row["winning_rate"] is None) == (number < 30)
    assert (row["passes"] is None) == (number < 30)
    assert len(row["dropped"]["annotators_with_few_items"]) == (2 if number < 30 else 0)
    assert row["notes"]


def test_labels_written_in_two_ways_are_pointed_out(tmp_path):
    people = {name: {f"i{n}": n % 2 for n in range(30)} for name in ("a", "b", "c")}
    as_text = {f"i{n}": str(n % 2) for n in range(30)}
    (row,) = run(*written(tmp_path, people, {"m": as_text}), tmp_path / "out")["rows"]
    assert row["advantage_probability"] == 0.0
    assert len(row["notes"]) == 1
    (equal,) = run(*written(tmp_path, people, {"m": {k: float(v) for k, v in as_text.items()}}), tmp_path)["rows"]
    assert (equal["advantage_probability"], equal["notes"]) == (1.0, [])


@pytest.mark.parametrize(
    "content",
    [b'{"a": ', b"[1, 2]", b"\xff\xfe", gzip.compress(b'{"a": {"i": 1}}', mtime=0)[:-9], b"{}", b'{"a": {}}', b""],
    ids=["cut", "list", "binary", "cut gzip", "empty object", "no labels", "empty"],
)
def test_a_file_that_cannot_be_used_is_refused_by_name_and_nothing_is_written(content, tmp_path):
    people, judges = written(tmp_path, {"anna": ANNA, "ben": BEN}, {"gpt": JUDGE})
    judges.write_bytes(content)
    with pytest.raises(CommandError, match=r"judges\.json"):
        run(people, judges, tmp_path / "out")
    with pytest.raises(CommandError, match=r"nowhere\.json"):
        run(tmp_path / "nowhere.json", people, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    people, judges = written(tmp_path, {"anna": ANNA, "ben": BEN}, {"gpt": JUDGE})
    with pytest.raises(CommandError, match=r"people\.json"):
        run(people, judges, people)


@pytest.mark.parametrize("epsilon", ["-0.1", "1.1", "nan", "much"])
def test_epsilon_is_a_share(epsilon, tmp_path):
    people, judges = written(tmp_path, {"anna": ANNA, "ben": BEN}, {"gpt": JUDGE})
    with pytest.raises(CommandError, match="epsilon"):
        call_command(
            "judge_certificate", str(people), str(judges), "--scoring=accuracy", f"--epsilon={epsilon}",
            f"--out={tmp_path / 'out'}",
        )  # fmt: skip


def test_scripts_get_one_object(tmp_path, capsys):
    people, judges = written(tmp_path, {"anna": ANNA, "ben": BEN}, {"gpt": JUDGE})
    call_command(
        "judge_certificate", str(people), str(judges), scoring="accuracy", epsilon=0.2, out=tmp_path / "out", json=True
    )
    printed = json.loads(capsys.readouterr().out)
    assert printed.pop("file") == str(tmp_path / "out" / "alt_test.json")
    assert printed == json.loads((tmp_path / "out" / "alt_test.json").read_text())
