"""The corpus's judgments in a common form, from all files."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from annotation.campaign_types.default_dimensions import NAMES
from annotation.imports.external_answers import Answer, Labels
from crowdrag.studies.enums import ParticipantKind
from writing.corpus.imports import json_lines
from writing.corpus.imports.problems import Problems
from writing.corpus.imports.sources import Member

from . import record_schemas

Answers = dict[str, list[Answer]]
Repeats = Counter[tuple[str, tuple[str, str]]]
Reader = Callable[[Member, Answers, Problems, json_lines.Report, dict[str, Any]], None]

CROWD = "crowd-pairwise"
POINTWISE = "crowd-pointwise"
EXPERTS = "experts-pairwise"
COMBINED = "model-combined"
INDIVIDUAL = "model-individual"


def read_crowd(
    member: Member, answers: Answers, problems: Problems, report: json_lines.Report, _summary: dict[str, Any]
) -> None:
    """Read the crowd's pairwise votes."""
    seen: dict[tuple[str, str, int], json_lines.Row] = {}
    rows_of_crowd = answers.setdefault(CROWD, [])
    for row in json_lines.records(member, record_schemas.VOTE, problems, limits=json_lines.KEPT, report=report):
        data = row.data
        key = (data["submission_id"], data["worker"], data["item_index"])
        first = seen.setdefault(key, row)
        if first is not row:
            message = f"this worker's vote on item {key[2]} of this submission is on line {first.line} already"
            problems.set_aside(
                file=row.file, line=row.line, field="item_index", expected="each vote once", message=message
            )
            continue
        if (values := _labels(row, data, record_schemas.RAW_NAMES, problems)) is not None:
            position = data["item_index"]
            rows_of_crowd.append(
                _pair_answer(row, data["submission_id"], ParticipantKind.CROWD, data["worker"], position, values)
            )


def read_pointwise(
    member: Member, answers: Answers, problems: Problems, report: json_lines.Report, summary: dict[str, Any]
) -> None:
    """Read pointwise ratings. The items of a submission are its rows in order, the same for all of its workers.

    A worker with a multiple of these rows submitted more than once: the first submission counts, the others are
    repeats.
    """
    rows_by_judge: dict[str, dict[str, list[json_lines.Row]]] = defaultdict(lambda: defaultdict(list))
    for row in json_lines.records(
        member, record_schemas.POINTWISE_RATING, problems, limits=json_lines.KEPT, report=report
    ):
        rows_by_judge[row.data["submission_id"]][row.data["worker"]].append(row)
    pointwise = answers.setdefault(POINTWISE, [])
    for submission, workers in rows_by_judge.items():
        topics = _common_order(workers.values())
        for worker, rows in workers.items():
            for n, row in enumerate(_whole_passes(topics, rows, worker, problems)):
                if (values := _labels(row, row.data, NAMES, problems)) is not None:
                    pointwise.append(_pointwise_answer(row, submission, worker, topics, n, values))
    summary["pointwise_repeats"] = sum(answer.repeat > 0 for answer in pointwise)


def read_experts(
    member: Member, answers: Answers, problems: Problems, _report: json_lines.Report, _summary: dict[str, Any]
) -> None:
    """Read the experts' votes: an object of columns, each an object from row number to value."""
    rows_of_experts = answers.setdefault(EXPERTS, [])
    for number, data, clicks in _expert_rows(member, problems):
        row = json_lines.Row(member.name, number, data)
        if (values := _labels(row, data, record_schemas.RAW_NAMES, problems)) is None:
            continue
        answer = _pair_answer(
            row, data["submission_id"], ParticipantKind.EXPERT, data["prolific_pid"], data["slide"], values
        )
        answer.judged_at = tuple(_latest(clicks, name) for name in record_schemas.CLICK_NAMES)
        answer.submitted_at = _latest(clicks, "submit")
        rows_of_experts.append(answer)


def read_combined(
    member: Member, answers: Answers, problems: Problems, report: json_lines.Report, _summary: dict[str, Any]
) -> None:
    """Read models' judgments of all dimensions in one answer, with their justifications."""
    _read_models_raw(member, COMBINED, answers, problems, report)


def read_individual(
    member: Member, answers: Answers, problems: Problems, report: json_lines.Report, _summary: dict[str, Any]
) -> None:
    """Read models' judgments of one dimension at a time, with their justifications."""
    _read_models_raw(member, INDIVIDUAL, answers, problems, report)


def _read_models_raw(
    member: Member, campaign: str, answers: Answers, problems: Problems, report: json_lines.Report
) -> None:
    repeats: Repeats = Counter()
    for row in json_lines.records(
        member, record_schemas.MODEL_VOTE_RAW, problems, limits=json_lines.KEPT, report=report
    ):
        ratings = row.data["ratings"]
        labels: dict[str, Any] = {}
        reasons = []
        for name, keys in record_schemas.QUESTIONS.items():
            key = next((key for key in keys if ratings[f"{key}_rating"] is not None), keys[0])
            labels[name] = ratings[f"{key}_rating"]
            reasons.append(ratings[f"{key}_justification"] or "")
        if (values := _labels(row, labels, NAMES, problems)) is not None:
            answer = _model_answer(row, campaign, values, repeats)
            answer.justifications = tuple(reasons)
            answers.setdefault(answer.questionnaire, []).append(answer)


def read_models(
    member: Member, answers: Answers, problems: Problems, report: json_lines.Report, summary: dict[str, Any]
) -> None:
    """Read models' judgments in both prompting modes. Those that a raw file contains are compared, not stored twice."""
    raw = {
        (answer.questionnaire, answer.pair, answer.repeat): answer.values
        for name in answers
        if name.startswith((COMBINED, INDIVIDUAL))
        for answer in answers[name]
    }
    is_present = {name: any(key[0].startswith(name) for key in raw) for name in (COMBINED, INDIVIDUAL)}
    repeats: Repeats = Counter()
    compared: dict[str, Counter[str]] = {name: Counter() for name, is_there in is_present.items() if is_there}
    seen = set()
    for row in json_lines.records(member, record_schemas.MODEL_VOTE, problems, limits=json_lines.KEPT, report=report):
        campaign = f"model-{row.data['inference']}"
        if (values := _labels(row, row.data, NAMES, problems)) is None:
            continue
        answer = _model_answer(row, campaign, values, repeats)
        key = (answer.questionnaire, answer.pair, answer.repeat)
        seen.add(key)
        if key not in raw:
            answers.setdefault(answer.questionnaire, []).append(answer)
        if is_present[campaign]:
            compared[campaign][_compared(raw.get(key), values)] += 1
    for name, counts in compared.items():
        only_in_raw = sum(key not in seen for key in raw if key[0].startswith(name))
        summary[name.replace("-", "_")] = {word: counts[word] for word in _WORDS} | {"only_in_raw": only_in_raw}


_WORDS = ("equal_in_both_files", "different", "only_in_artifacts")


def _compared(raw: Labels | None, published: Labels) -> str:
    return "only_in_artifacts" if raw is None else "equal_in_both_files" if raw == published else "different"


def _labels(row: json_lines.Row, data: Mapping[str, Any], names: Sequence[str], problems: Problems) -> Labels | None:
    """Return an answer's labels, None for each that is missing or unreadable; None if there are no labels at all."""
    missing = [name for name in names if not isinstance(data[name], int)]
    if not missing:
        return tuple(data[name] for name in names)
    unreadable = [f"{name} {data[name].message}" for name in missing if data[name] is not None]
    message = f"has {len(names) - len(missing)} of {len(names)} labels" + "".join(f"; {each}" for each in unreadable)
    note = problems.incomplete if len(missing) < len(names) else problems.set_aside
    expected = f"{len(names)} labels that can be read"
    note(file=row.file, line=row.line, field=", ".join(missing), expected=expected, message=message)
    if len(missing) == len(names):
        return None
    return tuple(data[name] if isinstance(data[name], int) else None for name in names)


def is_new(row: json_lines.Row, key: str, seen: dict[str, int], problems: Problems) -> bool:
    """Return whether a record's id is new; `seen` maps ids to lines."""
    first = seen.setdefault(key, row.line)
    if first != row.line:
        message = f"{key} is on line {first} already"
        problems.set_aside(file=row.file, line=row.line, expected="each once", message=message)
    return first == row.line


def _pair_answer(
    row: json_lines.Row, questionnaire: str, kind: ParticipantKind, participant: str, position: int, values: Labels
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
        values=values,
    )


def _pointwise_answer(
    row: json_lines.Row, submission: str, worker: str, topics: Sequence[str], n: int, values: Labels
) -> Answer:
    data = row.data
    repeat, position = divmod(n, len(topics))
    # Numbered within its topic. Unlike the position, this number stays the same in a sample of topics.
    of_topic = topics[:position].count(topics[position]) + 1
    submitted_at = _moment(data["submitted_at"])
    return Answer(
        file=row.file,
        line=row.line,
        questionnaire=submission,
        participant=(ParticipantKind.CROWD, worker),
        topic=data["query_id"],
        item=f"{submission}/{data['query_id']}/{of_topic}",
        values=values,
        repeat=repeat,
        external_id=data["response"],
        judged_at=(submitted_at,) * len(NAMES),
        submitted_at=submitted_at,
    )


def _model_answer(row: json_lines.Row, campaign: str, values: Labels, repeats: Repeats) -> Answer:
    pair = (row.data["response_a"], row.data["response_b"])
    model = row.data["model"] or record_schemas.WRITER_MODEL
    name = campaign if model == record_schemas.WRITER_MODEL else f"{campaign} {model}"
    repeats[name, pair] += 1
    return Answer(
        file=row.file,
        line=row.line,
        questionnaire=name,
        participant=(ParticipantKind.MODEL, model),
        topic=row.data["query_id"],
        pair=pair,
        values=values,
        repeat=repeats[name, pair] - 1,
    )


def _common_order(sequences: Iterable[Sequence[json_lines.Row]]) -> tuple[str, ...]:
    """Return the topics of a submission's items, in the order that most of its workers followed; the shortest if tied.

    A worker may have gone through the items several times.
    """
    orders = [tuple(row.data["query_id"] for row in rows) for rows in sequences]

    def passes_of(order: tuple[str, ...]) -> int:
        return sum(n for other in orders if other == order * (n := len(other) // len(order)))

    return max(dict.fromkeys(map(_period, orders)), key=lambda order: (passes_of(order), -len(order)))


def _period(order: tuple[str, ...]) -> tuple[str, ...]:
    """Return the shortest prefix whose repetition gives the order."""
    lengths = (size for size in range(1, len(order) + 1) if len(order) % size == 0)
    return next(order[:size] for size in lengths if order[:size] * (len(order) // size) == order)


def _whole_passes(
    topics: Sequence[str], rows: list[json_lines.Row], worker: str, problems: Problems
) -> list[json_lines.Row]:
    """Return a worker's rows as far as they are complete passes through the submission's items."""
    kept = 0
    while [row.data["query_id"] for row in rows[kept : kept + len(topics)]] == list(topics):
        kept += len(topics)
    if rest := rows[kept:]:
        problems.set_aside(
            file=rest[0].file,
            line=rest[0].line,
            field="query_id",
            expected=f"{len(topics)} rows on the topics of the submission's other workers, in their order",
            message=f"{len(rest)} rows of worker {worker} are on other topics, or not as many",
            rows=len(rest),
        )
    return rows[:kept]


def _expert_rows(member: Member, problems: Problems) -> list[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Return (row number, checked record, clicks) of each of the experts' votes."""
    text = json_lines.read_text(member, problems)
    wrong = Problems()
    value = json_lines.MISSING if text is None else json_lines.parse_json(text, wrong, file=member.name, line=1)
    problems.refuse_all_of(wrong)
    if value is json_lines.MISSING:
        return []
    if not isinstance(value, dict) or not all(isinstance(column, dict) for column in value.values()) or not value:
        expected = "one object: column -> {row number: value}"
        problems.add(file=member.name, line=1, expected=expected, message="the file is something else")
        return []
    expert_rows = []
    for number in dict.fromkeys(key for column in value.values() for key in column):
        record = {name: column[number] for name, column in value.items() if number in column}
        # The file has a single line, so the row number is reported as location.
        line = int(number) if number.isdecimal() and len(number) < 9 else 0
        data = json_lines.check_record(record, record_schemas.EXPERT_VOTE, problems, file=member.name, line=line)
        clicks = record.get("timestamps")
        if data is not None:
            expert_rows.append((line, data, clicks if isinstance(clicks, dict) else {}))
    return expert_rows


def _latest(clicks: Mapping[str, Any], name: str) -> datetime | None:
    """Return the last click on an element. Keys have the number of the slide's response before the name."""
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
