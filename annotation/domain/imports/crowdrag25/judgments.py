"""The corpus's judgments in one form, whatever file they are from."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from annotation.domain.defaults import NAMES
from annotation.domain.imports.answers import Answer
from crowdrag.studies.enums import ParticipantKind
from writing.domain.imports import reading
from writing.domain.imports.problems import Problems
from writing.domain.imports.sources import Member

from . import shapes

Answers = dict[str, list[Answer]]
Reader = Callable[[Member, Answers, Problems, reading.Report, dict[str, Any]], None]

CROWD = "crowd-pairwise"
POINTWISE = "crowd-pointwise"
EXPERTS = "experts-pairwise"
COMBINED = "model-combined"
INDIVIDUAL = "model-individual"


def read_crowd(
    member: Member, answers: Answers, problems: Problems, report: reading.Report, _summary: dict[str, Any]
) -> None:
    """Read the crowd's votes on pairs."""
    seen: dict[tuple[str, str, int], reading.Row] = {}
    found = answers.setdefault(CROWD, [])
    for row in reading.records(member, shapes.VOTE, problems, limits=reading.KEPT, report=report):
        data = row.data
        key = (data["submission_id"], data["worker"], data["item_index"])
        first = seen.setdefault(key, row)
        if first is not row:
            message = f"this worker's vote on item {key[2]} of this submission is on line {first.line} already"
            problems.add(file=row.file, line=row.line, field="item_index", expected="each vote once", message=message)
            continue
        found.append(
            _pair_answer(
                row, data["submission_id"], ParticipantKind.CROWD, data["worker"], data["item_index"], shapes.RAW_NAMES
            )
        )


def read_pointwise(
    member: Member, answers: Answers, problems: Problems, report: reading.Report, summary: dict[str, Any]
) -> None:
    """Read pointwise ratings: the items of a submission are its rows in order, the same for each of its workers.

    A worker with a multiple of the rows handed in more than once: the first time counts, the others are repeats.
    """
    given: dict[str, dict[str, list[reading.Row]]] = defaultdict(lambda: defaultdict(list))
    for row in reading.records(member, shapes.POINTWISE_RATING, problems, limits=reading.KEPT, report=report):
        given[row.data["submission_id"]][row.data["worker"]].append(row)
    found = answers.setdefault(POINTWISE, [])
    for submission, workers in given.items():
        topics = min(([row.data["query_id"] for row in rows] for rows in workers.values()), key=len)
        for worker, rows in workers.items():
            if not _follows(topics, rows, worker, problems):
                continue
            for n, row in enumerate(rows):
                found.append(_pointwise_answer(row, submission, worker, topics, n))
    summary["pointwise_repeats"] = sum(answer.repeat > 0 for answer in found)


def read_experts(
    member: Member, answers: Answers, problems: Problems, _report: reading.Report, _summary: dict[str, Any]
) -> None:
    """Read the experts' votes: one object of columns, each an object from row number to value."""
    found = answers.setdefault(EXPERTS, [])
    for number, data, clicks in _expert_rows(member, problems):
        row = reading.Row(member.name, number, data)
        answer = _pair_answer(
            row, data["submission_id"], ParticipantKind.EXPERT, data["prolific_pid"], data["slide"], shapes.RAW_NAMES
        )
        answer.judged_at = tuple(_latest(clicks, name) for name in shapes.CLICK_NAMES)
        answer.submitted_at = _latest(clicks, "submit")
        found.append(answer)


def read_models_raw(
    member: Member, answers: Answers, problems: Problems, report: reading.Report, _summary: dict[str, Any]
) -> None:
    """Read a model's judgments of all dimensions at once, with its justifications."""
    repeats: Counter[tuple[str, str]] = Counter()
    found = answers.setdefault(COMBINED, [])
    for row in reading.records(member, shapes.MODEL_VOTE_RAW, problems, limits=reading.KEPT, report=report):
        ratings = row.data["ratings"]
        values = {name: ratings[f"Q{n}_rating"] for n, name in enumerate(NAMES, 1)}
        answer = _model_answer(reading.Row(row.file, row.line, row.data | values), COMBINED, repeats)
        answer.justifications = tuple(ratings[f"Q{n}_justification"] or "" for n in range(1, 8))
        found.append(answer)


def read_models(
    member: Member, answers: Answers, problems: Problems, report: reading.Report, summary: dict[str, Any]
) -> None:
    """Read a model's judgments under both inferences. Where the raw file gave the combined ones already, compare."""
    raw = answers.get(COMBINED, [])
    repeats: dict[str, Counter[tuple[str, str]]] = {COMBINED: Counter(), INDIVIDUAL: Counter()}
    published: Answers = {COMBINED: [], INDIVIDUAL: []}
    for row in reading.records(member, shapes.MODEL_VOTE, problems, limits=reading.KEPT, report=report):
        campaign = f"model-{row.data['inference']}"
        published[campaign].append(_model_answer(row, campaign, repeats[campaign]))
    answers[INDIVIDUAL] = published[INDIVIDUAL]
    if not raw:
        answers[COMBINED] = published[COMBINED]
        return
    known = {(answer.pair, answer.repeat): answer.values for answer in raw}
    compared = {(answer.pair, answer.repeat): answer.values for answer in published[COMBINED]}
    raw += [answer for answer in published[COMBINED] if (answer.pair, answer.repeat) not in known]
    summary["model_combined"] = {
        "equal_in_both_files": sum(known.get(key) == values for key, values in compared.items()),
        "different": sum(key in known and known[key] != values for key, values in compared.items()),
        "only_in_raw": len(known.keys() - compared.keys()),
        "only_in_artifacts": len(compared.keys() - known.keys()),
    }


def refuse_twice(row: reading.Row, key: str, seen: Mapping[str, Any], problems: Problems) -> None:
    """Note a record whose id was there before; `seen` holds what has a `row` by id."""
    if (first := seen.get(key)) is not None:
        message = f"{key} is on line {first.row.line} already"
        problems.add(file=row.file, line=row.line, expected="each once", message=message)


def _pair_answer(
    row: reading.Row, questionnaire: str, kind: ParticipantKind, participant: str, position: int, names: tuple[str, ...]
) -> Answer:
    data = row.data
    return Answer(
        file=row.file,
        line=row.line,
        questionnaire=questionnaire,
        participant=(kind, participant),
        topic=data["query_id"],
        pair=(data["response_a"], data["response_b"]),
        position=position,
        values=tuple(data[name] for name in names),
    )


def _pointwise_answer(row: reading.Row, submission: str, worker: str, topics: list[str], n: int) -> Answer:
    data = row.data
    repeat, position = divmod(n, len(topics))
    # The n-th response on its topic: unlike the position alone, this is the same in a sample of the topics.
    of_topic = topics[:position].count(topics[position]) + 1
    submitted_at = _moment(data["submitted_at"])
    return Answer(
        file=row.file,
        line=row.line,
        questionnaire=submission,
        participant=(ParticipantKind.CROWD, worker),
        topic=data["query_id"],
        item=f"{submission}/{data['query_id']}/{of_topic}",
        values=tuple(data[name] for name in NAMES),
        repeat=repeat,
        external_id=data["response"],
        judged_at=(submitted_at,) * len(NAMES),
        submitted_at=submitted_at,
    )


def _model_answer(row: reading.Row, campaign: str, repeats: Counter[tuple[str, str]]) -> Answer:
    pair = (row.data["response_a"], row.data["response_b"])
    repeats[pair] += 1
    return Answer(
        file=row.file,
        line=row.line,
        questionnaire=campaign,
        participant=(ParticipantKind.MODEL, shapes.WRITER_MODEL),
        topic=row.data["query_id"],
        pair=pair,
        values=tuple(row.data[name] for name in NAMES),
        repeat=repeats[pair] - 1,
    )


def _follows(topics: list[str], rows: list[reading.Row], worker: str, problems: Problems) -> bool:
    """Say whether a worker's rows go through the submission's items, once or several times over."""
    for n, row in enumerate(rows):
        if row.data["query_id"] != topics[n % len(topics)]:
            expected = f"topic {topics[n % len(topics)]}, as in the rows of the submission's other workers"
            message = f"row {n + 1} of worker {worker} is on topic {row.data['query_id']}"
            problems.add(file=row.file, line=row.line, field="query_id", expected=expected, message=message)
            return False
    if len(rows) % len(topics):
        last = rows[-1]
        expected = f"a multiple of {len(topics)} rows, as many as the submission's other workers"
        problems.add(
            file=last.file,
            line=last.line,
            field="worker",
            expected=expected,
            message=f"worker {worker} has {len(rows)}",
        )
        return False
    return True


def _expert_rows(member: Member, problems: Problems) -> list[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Return (row number, checked record, clicks) of each of the experts' votes."""
    text = reading.whole(member, problems)
    value = reading.MISSING if text is None else reading.parsed(text, problems, file=member.name, line=1)
    if value is reading.MISSING:
        return []
    if not isinstance(value, dict) or not all(isinstance(column, dict) for column in value.values()) or not value:
        expected = "one object: column -> {row number: value}"
        problems.add(file=member.name, line=1, expected=expected, message="the file is something else")
        return []
    found = []
    for number in dict.fromkeys(key for column in value.values() for key in column):
        record = {name: column[number] for name, column in value.items() if number in column}
        # Of a file of one line, the row's number says where the problem is.
        line = int(number) if number.isdecimal() and len(number) < 9 else 0
        data = reading.checked(record, shapes.EXPERT_VOTE, problems, file=member.name, line=line)
        clicks = record.get("timestamps")
        if data is not None:
            found.append((line, data, clicks if isinstance(clicks, dict) else {}))
    return found


def _latest(clicks: Mapping[str, Any], name: str) -> datetime | None:
    """Return when something was last clicked; the keys carry the number of the slide's response before the name."""
    times = [
        time
        for key, values in clicks.items()
        if (key == name or key.endswith(f"_{name}")) and isinstance(values, list)
        for value in values
        if (time := _time(value)) is not None
    ]
    return max(times, default=None)


def _time(value: Any) -> datetime | None:
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _moment(milliseconds: int | None) -> datetime | None:
    if milliseconds is None:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest * 1000)
