"""The importers of the writing app."""

from datetime import datetime

from crowdrag.studies.models import Study

from .. import responses
from ..formats import study_answers
from . import csv_files, file_formats, importers, question_files, removal, response_files, topic_files, trec
from .importers import (
    COLUMN_NAMES,
    COLUMN_OPTIONS,
    COLUMNS,
    DRY_RUN,
    FORMAT,
    FROM_ONE,
    PASSAGE_LINES,
    STRICT,
    SYSTEM,
    Importer,
    Input,
    Inputs,
    Options,
    Stored,
)
from .json_lines import Report
from .problems import Problems


def _read_topics(files: Inputs, _options: Options, problems: Problems, report: Report) -> list[topic_files.TopicInput]:
    return topic_files.read(files.one("file"), problems, report=report)


def _store_topics(study: Study, topics: list[topic_files.TopicInput], now: datetime) -> Stored:
    return Stored({"made": topic_files.store(study=study, topics=topics, now=now)})


def _read_questions(
    files: Inputs, _options: Options, problems: Problems, report: Report
) -> list[topic_files.TopicInput]:
    return question_files.read(files.one("file"), problems, report=report)


def _store_questions(study: Study, topics: list[topic_files.TopicInput], now: datetime) -> Stored:
    return Stored({"made": question_files.store(study=study, topics=topics, now=now)})


def _read_trec(files: Inputs, options: Options, problems: Problems, report: Report) -> trec.Collected:
    return trec.read(
        topics=files.one("topics"),
        run=files.one("run"),
        passages=files.one("passages"),
        problems=problems,
        depth=options.get("depth", trec.DEPTH),
        report=report,
    )


def _store_trec(study: Study, collected: trec.Collected, now: datetime) -> Stored:
    created = topic_files.store(study=study, topics=collected.topics, now=now)
    return Stored({"made": created, "run_tag": collected.tag, "topics_without_passages": collected.without_passages})


def _read_responses(
    files: Inputs, options: Options, problems: Problems, report: Report
) -> list[responses.ResponseInput]:
    style = options.get("style", response_files.DEFAULT_STYLE)
    return response_files.read(files.one("file"), problems, style=style, report=report)


def _store_responses(study: Study, parsed: list[responses.ResponseInput], now: datetime) -> Stored:
    return Stored({"made": responses.store(study=study, responses=parsed, problems=Problems(), now=now)})


def _read_csv(files: Inputs, options: Options, problems: Problems, report: Report) -> csv_files.CsvContent:
    rules = csv_files.CellRules(
        style=options.get("style") or response_files.DEFAULT_STYLE,
        from_one=bool(options.get(FROM_ONE)),
        passage_lines=bool(options.get(PASSAGE_LINES)),
    )
    return csv_files.read(files.one("file"), problems, roles=options.get(COLUMNS), rules=rules, report=report)


def _store_csv(study: Study, content: csv_files.CsvContent, now: datetime) -> Stored:
    created = csv_files.store(study=study, content=content, now=now)
    return Stored(
        {"made": created} | ({} if content.encoding == file_formats.UTF_8 else {"encoding": content.encoding})
    )


def _read_answers(files: Inputs, options: Options, problems: Problems, report: Report) -> study_answers.Answers:
    chosen = study_answers.ReadOptions(
        format=options.get(FORMAT) or "",
        system=options.get(SYSTEM) or "",
        columns=study_answers.parse_columns(options.get(COLUMN_NAMES) or ""),
        style=options.get("style") or response_files.DEFAULT_STYLE,
        from_one=bool(options.get(FROM_ONE)),
    )
    return study_answers.read(files.every("files"), problems, options=chosen, report=report)


def _store_answers(study: Study, answers: study_answers.Answers, now: datetime) -> Stored:
    return study_answers.store(study=study, answers=answers, now=now)


_LINES = "JSON lines, gzipped or not"

CSV = Importer(
    name="csv",
    title="CSV or TSV file",
    description=(
        "Queries and the responses of your systems, from a spreadsheet. "
        "You choose what each column contains on the next page."
    ),
    inputs=(Input("file", "CSV or TSV file", "With a header line, in UTF-8"),),
    read=_read_csv,
    store=_store_csv,
    template="writing/corpus/imports/_csv.html",
    options=("style", *COLUMN_OPTIONS),
    order=10,
    is_deletable=True,
    has_columns=True,
)
TOPICS = Importer(
    name="topics",
    title="Topics",
    description="Topics with their queries and ranked passages, as JSON lines.",
    inputs=(Input("file", "Topics", _LINES),),
    read=_read_topics,
    store=_store_topics,
    template="writing/corpus/imports/_topics.html",
    order=20,
    is_deletable=True,
    of_people=False,
)
QUESTIONS = Importer(
    name="questions",
    title="List of queries",
    description="A text file with one query per line. You can also paste the lines.",
    inputs=(Input("file", "Queries", "Text file in UTF-8, one query per line"),),
    read=_read_questions,
    store=_store_questions,
    template="writing/corpus/imports/_questions.html",
    order=15,
    is_deletable=True,
    of_people=False,
)
TREC = Importer(
    name="trec",
    title="TREC topics and run",
    description="A topics file, a run file, and the passages in the run.",
    inputs=(
        Input("topics", "Topics", "Tab-separated, classic TREC format, or JSON lines"),
        Input("run", "Run", "Six columns: topic, Q0, passage, rank, score, tag"),
        Input("passages", "Passages", _LINES),
    ),
    read=_read_trec,
    store=_store_trec,
    template="writing/corpus/imports/_trec.html",
    options=("depth",),
    order=30,
    is_deletable=True,
    of_people=False,
)
RESPONSES = Importer(
    name="responses",
    title="Responses",
    description="Responses of RAG systems, models or people to the study's topics, as JSON lines.",
    inputs=(Input("file", "Responses", _LINES),),
    read=_read_responses,
    store=_store_responses,
    template="writing/corpus/imports/_responses.html",
    options=("style",),
    order=40,
    is_deletable=True,
)
ANSWERS = Importer(
    name="answers",
    title="Answers of RAG systems",
    description=(
        "Answers in the formats of TREC RAG, TREC AutoJudge, ALCE, RAGAS, ARES or Hugging Face data sets, "
        "with their topics and passages. The format is recognised."
    ),
    inputs=(Input("files", "Answers, topics and passages", "Files, or one zip or tar archive", many=True),),
    read=_read_answers,
    store=_store_answers,
    template="writing/corpus/imports/_answers.html",
    options=(FORMAT, SYSTEM, COLUMN_NAMES, "style", FROM_ONE, STRICT, DRY_RUN),
    order=12,
    is_deletable=True,
)


def register() -> None:
    """Register the importers of the writing app."""
    for importer in (CSV, ANSWERS, QUESTIONS, TOPICS, TREC, RESPONSES):
        importers.register(importer)
    removal.register()
