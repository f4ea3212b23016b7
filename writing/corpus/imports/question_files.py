"""Read and store questions, one per line, from a text file or a form."""

from datetime import datetime
from typing import Final

from crowdrag.studies.models import Study

from . import csv_files, json_lines
from .csv_files import CsvContent
from .fields import MAX_ID, AddressedIdentifier, Mismatch, Text
from .problems import Problems
from .sources import Member
from .topic_files import TopicInput

SEPARATOR: Final = "\t"


def read(member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> list[TopicInput]:
    """Read questions, one per line; an ID and a tab may precede each.

    A question without an ID gets one derived from its words. Repeated questions are merged; an ID with two questions
    is a problem.
    """
    topics: dict[str, TopicInput] = {}
    for number, line in json_lines.texts(member, problems, limits=json_lines.KEPT, report=report):
        before, separator, after = line.strip().partition(SEPARATOR)
        question = (after if separator else before).strip()
        external_id = before.strip() if separator else csv_files.topic_id(question)
        try:
            Text().clean(question)
            AddressedIdentifier(MAX_ID).clean(external_id)
        except Mismatch as wrong:
            problems.add(file=member.name, line=number, expected=wrong.expected, message=wrong.message)
            continue
        topic = TopicInput(external_id, question, (), file=member.name, line=number)
        first = topics.setdefault(external_id, topic)
        if first.query != question:
            message = f"the ID {external_id} is on line {first.line} already, with another query"
            problems.add(file=member.name, line=number, expected="one ID for each query", message=message)
    if not topics and not problems.found:
        problems.add(file=member.name, line=0, expected="one query per line", message="there are no queries")
    problems.refuse_any()
    return list(topics.values())


def store(*, study: Study, topics: list[TopicInput], now: datetime) -> dict[str, int]:
    """Store questions as topics; questions that are already in the study keep their IDs and passages."""
    return csv_files.store(study=study, content=CsvContent(topics=topics), now=now)
