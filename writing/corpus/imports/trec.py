"""Read TREC files: topics, a run, and passages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..formats.trec_columns import parse_ranked
from . import json_lines
from .fields import AddressedIdentifier, Mismatch, Optional, Text
from .problems import Problems, quote_value
from .sources import Member
from .topic_files import MAX_PASSAGES, PASSAGE_ID, PassageInput, TopicInput

DEPTH = 20
_SMALL = json_lines.Limits(file=64 * json_lines.MIB, line=64 * json_lines.MIB)
_ID_NAMES = ("id", "docid", "_id", "segid", "doc_id")
_TEXT_NAMES = ("text", "segment", "contents", "passage")
_TOPIC_NAMES = ("topic", "topic_id", "qid", "id", "num", "number")
_QUERY_NAMES = ("query", "title", "text", "topic_text")
_TOP, _TOP_END = re.compile(r"<top>", re.IGNORECASE), re.compile(r"</top>", re.IGNORECASE)
_TAG = re.compile(r"<(num|title|desc|narr)[^<>]*+>(.*?)(?=<(?:num|title|desc|narr|/)|\Z)", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(r"\A\s*(?:number|topic|description|narrative)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """A topic without its passages."""

    external_id: str
    query: str
    narrative: str
    line: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A line of a run."""

    topic: str
    passage: str
    rank: int
    score: float
    line: int


@dataclass(frozen=True, slots=True)
class Collected:
    """Topics with their passages, and the topics for which the run found none."""

    topics: list[TopicInput]
    without_passages: list[str]
    tag: str


def read(
    *,
    topics: Member,
    run: Member,
    passages: Member,
    problems: Problems,
    depth: int = DEPTH,
    report: json_lines.Report = json_lines.no_report,
) -> Collected:
    """Read topics with their top `depth` passages. Only passages that the run contains are kept in memory."""
    queries = {query.external_id: query for query in read_queries(topics, problems)}
    hits, tag = read_run(run, queries, problems, depth=depth, report=report)
    needed = {hit.passage: hit for hits_of_topic in hits.values() for hit in hits_of_topic}
    texts = read_passages(passages, needed, problems, report=report)
    for name, hit in needed.items():
        if name not in texts:
            message = f"passage {name} of the run is not in {passages.name}"
            problems.add(
                file=run.name, line=hit.line, field="docid", expected="a passage of the passages' file", message=message
            )
    problems.refuse_any()
    collected = [
        TopicInput(
            query.external_id,
            query.query,
            tuple(_scored(texts[hit.passage], hit) for hit in hits[query.external_id]),
            query.narrative,
            topics.name,
            query.line,
        )
        for query in queries.values()
        if query.external_id in hits
    ]
    return Collected(collected, [name for name in queries if name not in hits], tag)


def read_queries(member: Member, problems: Problems) -> list[Query]:
    """Read a file of topics; the format is detected: tab-separated, classic `<top>`, or JSON lines."""
    every = list(json_lines.texts(member, problems, limits=_SMALL, blank=True))
    lines = [(number, text) for number, text in every if text.strip()]
    first = lines[0][1].lstrip() if lines else ""
    if first.lower().startswith("<"):
        queries = list(_classic(member, "".join(text for _, text in every), problems))
    elif first.startswith("{"):
        queries = list(_json(member, lines, problems))
    else:
        queries = list(_tabbed(member, lines, problems))
    if not queries and not problems.found:
        problems.add(file=member.name, expected="id<TAB>query, <top> or JSON lines", message="there is no topic in it")
    _refuse_twice(queries, member, problems)
    return queries


def read_run(
    member: Member,
    queries: Mapping[str, Query],
    problems: Problems,
    *,
    depth: int = DEPTH,
    report: json_lines.Report = json_lines.no_report,
) -> tuple[dict[str, list[Hit]], str]:
    """Read a run: its tag and each topic's top `depth` passages by rank (ties: higher score, then earlier line)."""
    hits: dict[str, list[Hit]] = {}
    seen: set[tuple[str, str]] = set()
    tags: dict[str, int] = {}
    for number, text in json_lines.texts(member, problems, report=report):
        hit = _hit(member, number, text, problems, tags)
        if hit is None:
            continue
        if hit.topic not in queries:
            message = f"topic {hit.topic} is not in the topics' file"
            problems.add(
                file=member.name, line=number, field="topic", expected="a topic of the topics' file", message=message
            )
        elif (hit.topic, hit.passage) in seen:
            message = f"passage {hit.passage} is in topic {hit.topic}'s list already"
            problems.add(
                file=member.name, line=number, field="docid", expected="each passage once a topic", message=message
            )
        else:
            seen.add((hit.topic, hit.passage))
            hits.setdefault(hit.topic, []).append(hit)
    for tag, number in list(tags.items())[1:]:
        message = f"this line is of run {tag}, the first one of {next(iter(tags))}"
        problems.add(file=member.name, line=number, field="tag", expected="one run a file", message=message)
    best = {
        topic: sorted(hits_of_topic, key=lambda hit: (hit.rank, -hit.score, hit.line))[: min(depth, MAX_PASSAGES)]
        for topic, hits_of_topic in hits.items()
    }
    return best, next(iter(tags), "")


def read_passages(
    member: Member, needed: Mapping[str, Hit], problems: Problems, *, report: json_lines.Report = json_lines.no_report
) -> dict[str, PassageInput]:
    """Read the needed passages of a JSON lines file."""
    texts: dict[str, PassageInput] = {}
    for number, text in json_lines.texts(member, problems, report=report):
        record = json_lines.parse_json(text, problems, file=member.name, line=number)
        if record is json_lines.MISSING:
            continue
        fields = record if isinstance(record, dict) else {}
        id_name, text_name = _used(_ID_NAMES, fields), _used(_TEXT_NAMES, fields)
        named = fields.get(id_name)
        if isinstance(named, str) and named not in needed:
            continue
        shape = {
            id_name: PASSAGE_ID,
            text_name: Text(),
            "title": Optional(Text(blank=True)),
            "url": Optional(Text(blank=True)),
        }
        data = json_lines.check_record(record, shape, problems, file=member.name, line=number)
        if data is None or data[id_name] not in needed:
            continue
        passage = PassageInput(data[id_name], data[text_name], data["title"] or "", data["url"] or "")
        if texts.setdefault(passage.external_id, passage) != passage:
            message = f"passage {passage.external_id} is there twice, with two texts"
            problems.add(file=member.name, line=number, field=text_name, expected="one text a passage", message=message)
    return texts


def _scored(passage: PassageInput, hit: Hit) -> PassageInput:
    return PassageInput(passage.external_id, passage.text, passage.title, passage.url, hit.score)


def _hit(member: Member, number: int, text: str, problems: Problems, tags: dict[str, int]) -> Hit | None:
    """Parse a line of a run; if it is invalid, record the problem and return None."""
    try:
        ranked = parse_ranked(text)
    except Mismatch as mismatch:
        field, expected = mismatch.path, mismatch.expected
        problems.add(file=member.name, line=number, field=field, expected=expected, message=mismatch.message)
        return None
    tags.setdefault(ranked.run, number)
    return Hit(ranked.topic, ranked.passage, ranked.rank, ranked.score, number)


def _tabbed(member: Member, lines: list[tuple[int, str]], problems: Problems) -> Iterator[Query]:
    for number, text in lines:
        name, tab, query = text.rstrip("\r\n").partition("\t")
        if not tab:
            message = f"no tab in {quote_value(text.strip())}"
            problems.add(file=member.name, line=number, expected="id<TAB>query", message=message)
            continue
        yield from _checked(member, number, name.strip(), query.strip(), "", problems)


def _json(member: Member, lines: list[tuple[int, str]], problems: Problems) -> Iterator[Query]:
    for number, text in lines:
        record = json_lines.parse_json(text, problems, file=member.name, line=number)
        if record is json_lines.MISSING:
            continue
        fields = record if isinstance(record, dict) else {}
        topic, query = _used(_TOPIC_NAMES, fields), _used(_QUERY_NAMES, fields)
        shape = {topic: AddressedIdentifier(), query: Text(), "narrative": Optional(Text(blank=True))}
        data = json_lines.check_record(record, shape, problems, file=member.name, line=number)
        if data is not None:
            yield Query(data[topic], data[query].strip(), data["narrative"] or "", number)


def _classic(member: Member, text: str, problems: Problems) -> Iterator[Query]:
    """Read `<top>` blocks; description and narrative together become the topic's narrative."""
    line, counted_to = 1, 0
    end: re.Match[str] | None = None
    while (top := _TOP.search(text, end.end() if end else 0)) and (end := _TOP_END.search(text, top.end())):
        line += text.count("\n", counted_to, top.start())
        counted_to = top.start()
        parts = _TAG.findall(text, top.end(), end.start())
        tags = {tag.lower(): _LABEL.sub("", value).strip() for tag, value in parts}
        narrative = "\n\n".join(tags[tag] for tag in ("desc", "narr") if tags.get(tag))
        yield from _checked(member, line, tags.get("num", ""), tags.get("title", ""), narrative, problems)


def _checked(member: Member, line: int, name: str, query: str, narrative: str, problems: Problems) -> Iterator[Query]:
    values = {"id": (AddressedIdentifier(), name), "query": (Text(), query), "narrative": (Text(blank=True), narrative)}
    fine = True
    for field, (check, value) in values.items():
        try:
            check.clean(value)
        except Mismatch as mismatch:
            problems.add(file=member.name, line=line, field=field, expected=mismatch.expected, message=mismatch.message)
            fine = False
    if fine:
        yield Query(name, " ".join(query.split()), narrative, line)


def _refuse_twice(queries: list[Query], member: Member, problems: Problems) -> None:
    seen: dict[str, int] = {}
    for query in queries:
        first = seen.setdefault(query.external_id, query.line)
        if first != query.line:
            message = f"topic {query.external_id} is on line {first} already"
            problems.add(file=member.name, line=query.line, field="id", expected="each topic once", message=message)


def _used(names: tuple[str, ...], record: Mapping[str, object]) -> str:
    return next((name for name in names if name in record), names[0])
