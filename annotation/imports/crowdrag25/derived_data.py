"""Compare the corpus's derived data with its raw files. Nothing is stored."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.text import statements
from annotation.campaign_types.default_dimensions import NAMES
from annotation.imports.external_answers import Labels
from writing.corpus.imports import json_lines
from writing.corpus.imports.problems import BadInput, Problems
from writing.corpus.imports.sources import Member

from . import judgments, record_schemas
from .corpus import Corpus

EXAMPLES = 5
DEPTH = 20  # passages per topic, for topics that are not in the folder


def compare(corpus: Corpus) -> dict[str, Any]:
    """Return where the published labels and parsed responses agree and disagree with the raw files.

    Differences never refuse an import. Unreadable records are counted.
    """
    differences = {}
    for name, look in ((record_schemas.LABELS, _labels), (record_schemas.PARSED, _parsed)):
        if (member := corpus.files.get(name)) is not None:
            differences[f"published_{name}"] = look(member, corpus)
    return differences


def _objects(member: Member, unreadable: list[str]) -> Iterator[dict[str, Any]]:
    problems = Problems()
    try:
        for number, text in json_lines.texts(member, problems, limits=json_lines.STREAMED):
            record = json_lines.parse_json(text, problems, file=member.name, line=number)
            if isinstance(record, dict):
                yield record
    except BadInput:
        pass
    unreadable += [str(problem) for problem in problems.found]


def _labels(member: Member, corpus: Corpus) -> dict[str, Any]:
    """Compare published votes with each pair's first votes in the raw file."""
    votes: dict[Any, list[tuple[str, Labels]]] = defaultdict(list)
    for answer in corpus.answers.get(judgments.CROWD, []):
        votes[answer.pair].append((answer.participant[1], answer.values))
    letters: dict[int | None, str] = {value: name for name, value in record_schemas.CHOICES.items()}
    pairs = equal = 0
    unreadable: list[str] = []
    different: list[str] = []
    for record in _objects(member, unreadable):
        pairs += 1
        key = record.get("response_a"), record.get("response_b")
        workers = record.get("worker")
        count = len(workers) if isinstance(workers, list) else 0
        first = votes.get(key, [])[:count]
        same = [worker for worker, _ in first] == workers and all(
            [letters.get(values[n]) for _, values in first] == record.get(f"{name}_vote")
            for n, name in enumerate(NAMES)
        )
        equal += same
        if not same:
            different.append(f"{key[0]} {key[1]}")
    return {
        "pairs": pairs,
        "equal": equal,
        "different": len(different),
        "examples": different[:EXAMPLES],
        "unreadable": unreadable[:EXAMPLES],
    }


def _parsed(member: Member, corpus: Corpus) -> dict[str, Any]:
    """Compare published citations with ours. The columns are not documented, so several names are tried."""
    texts = {response.external_id: response.text or "" for response in corpus.model_responses}
    texts |= {name: log.text for name, log in corpus.logs.items()}
    ranks = {
        topic.external_id: {passage.external_id: rank for rank, passage in enumerate(topic.passages)}
        for topic in corpus.topics
    }
    unreadable: list[str] = []
    different: list[str] = []
    unknown = equal = compared = 0
    for record in _objects(member, unreadable):
        name = next(
            (record[key] for key in ("response", "response_id", "id") if isinstance(record.get(key), str)), None
        )
        if name not in texts:
            unknown += 1
            continue
        of_topic = ranks.get(str(record.get("topic")), {})
        theirs = _citations(record.get("statements"), of_topic)
        if theirs is None:
            continue
        compared += 1
        ours = statements.parse(texts[name], passages=len(of_topic) or DEPTH)
        if [sorted(s.citations) for s in ours.statements] == theirs:
            equal += 1
        else:
            different.append(name)
    return {
        "compared": compared,
        "equal": equal,
        "different": len(different),
        "examples": different[:EXAMPLES],
        "only_here": unknown,
        "unreadable": unreadable[:EXAMPLES],
    }


def _citations(rows: Any, ranks: Mapping[str, int]) -> list[list[int]] | None:
    """Return the ranks that published statements cite; None if their format is unknown.

    A statement cites passages by rank or by id.
    """
    if not isinstance(rows, list):
        return None
    citations = []
    for statement in rows:
        if not isinstance(statement, dict):
            return None
        cited: list[Any] = next(
            (
                statement[key]
                for key in ("citations", "reference_ids", "references_ids", "references", "cites")
                if isinstance(statement.get(key), list)
            ),
            [],
        )
        indices = [_rank(index, ranks) for index in cited]
        if None in indices:
            return None
        citations.append(sorted({index for index in indices if index is not None}))
    return citations


def _rank(index: Any, ranks: Mapping[str, int]) -> int | None:
    if isinstance(index, int):
        return index
    if not isinstance(index, str):
        return None
    return ranks.get(index, int(index) if index.isdecimal() else None)
