"""Tables of writing: topics and passages, styles, parsed responses, and survey answers."""

from collections.abc import Iterator
from typing import Any

from crowdrag.studies.models import Participant
from writing.models import Citation, Passage, Response, RetrievedPassage, Statement, Style, SurveyAnswers, Topic

from ...enums import TextSource
from ..choices import Passages
from .content_table import ContentColumn, ContentTable, Row
from .source import Source

CHUNK = 500
_TOPIC = ContentColumn("topic", "text", False, "The topic's ID.", "topics.topic")
_TOPIC_VERSION = ContentColumn("topic_version", "integer", False, "The version of the topic.")
_RESPONSE = ContentColumn("response", "text", False, "The response's ID.", "responses.response")


def tables(source: Source) -> Iterator[ContentTable]:
    """Yield the selected tables."""
    chosen = source.choices
    yield participants(source)
    if chosen.topics:
        yield topics(source)
    if chosen.passages != Passages.NONE:
        yield retrieved(source)
    if chosen.passages in (Passages.ADDRESSES, Passages.TEXTS):
        yield passages(source)
    if chosen.responses:
        yield from (styles(source), responses(source), statements(source), citations(source))
        if chosen.surveys:
            yield survey_answers(source)


def participants(source: Source) -> ContentTable:
    """Return everybody whose responses or judgments are included."""
    columns = (
        ContentColumn("participant", "text", False, "The pseudonym of a person, or the name of a model or system."),
        ContentColumn("kind", "text", False, "The kind of participant.", values=("CROWD", "EXPERT", "MODEL", "SYSTEM")),
        ContentColumn("is_simulated", "boolean", False, "Whether it is simulated, not made by a person."),
        ContentColumn("specification", "json", True, "For models and systems: version, prompt and parameters."),
    )

    def rows() -> Iterator[Row]:
        participants_of_study = Participant.objects.filter(study=source.study).order_by("pk")
        values = participants_of_study.values_list("pk", "kind", "is_simulated", "specification")
        kept = [row for row in values.iterator(CHUNK) if row[0] in source.selection.participants]
        # Sort by released name: the database order would reveal who came first.
        for pk, kind, simulated, specification in sorted(kept, key=lambda row: source.names.of(row[0])):
            yield {
                "participant": source.names.of(pk),
                "kind": kind,
                "is_simulated": simulated or source.study.is_simulated,
                "specification": specification or None if kind in ("MODEL", "SYSTEM") else None,
            }

    return ContentTable(
        "participants", "A person, model or system that wrote or judged.", columns, rows, ("participant",)
    )


def topics(source: Source) -> ContentTable:
    """Return the topics in the latest version, and in all versions that included data refer to."""
    columns = (
        ContentColumn("topic", "text", False, "The topic's ID."),
        ContentColumn("topic_version", "integer", False, "Version number, from 1. A version never changes."),
        ContentColumn("query", "text", False, "The query.", is_free_text=True),
        ContentColumn("narrative", "text", True, "A longer description of the information need.", is_free_text=True),
    )

    def rows() -> Iterator[Row]:
        topics_of_study = Topic.objects.filter(study=source.study).order_by("pk")
        for pk, name, version, query, narrative in topics_of_study.values_list(
            "pk", "external_id", "version", "query", "narrative"
        ).iterator(CHUNK):
            if pk in source.selection.topics:
                yield {"topic": name, "topic_version": version, "query": query, "narrative": narrative or None}

    return ContentTable("topics", "A query for responses.", columns, rows, ("topic", "topic_version"))


def retrieved(source: Source) -> ContentTable:
    """Return the passages retrieved for each topic."""
    named = "passages.passage" if source.choices.passages != Passages.IDS else ""
    columns = (
        _TOPIC,
        _TOPIC_VERSION,
        ContentColumn("rank", "integer", False, "Its rank from 0, as citation markers count."),
        ContentColumn("passage", "text", False, "The collection's ID of the passage.", named),
        ContentColumn("passage_version", "integer", False, "The version of the passage."),
        ContentColumn("score", "number", True, "The retrieval score. Null: not known."),
    )
    names = ("topic", "topic_version", "rank", "passage", "passage_version", "score")

    def rows() -> Iterator[Row]:
        passages = RetrievedPassage.objects.filter(topic__study=source.study).order_by("topic_id", "rank")
        read = ("topic__external_id", "topic__version", "rank", "passage__external_id", "passage__version", "score")
        for topic, *values in passages.values_list("topic_id", *read).iterator(CHUNK):
            if topic in source.selection.topics:
                yield dict(zip(names, values, strict=True))

    return ContentTable("retrieved", "A ranked passage of a topic.", columns, rows, ("topic", "topic_version", "rank"))


def passages(source: Source) -> ContentTable:
    """Return the passages retrieved for an included topic."""
    columns: tuple[ContentColumn, ...] = (
        ContentColumn("passage", "text", False, "The collection's ID of the passage."),
        ContentColumn("passage_version", "integer", False, "Version number, from 1. A version never changes."),
        ContentColumn("title", "text", True, "Its title, if it has one.", is_free_text=True),
        ContentColumn("url", "text", True, "Its address, if known.", is_free_text=True),
        ContentColumn("text", "text", False, "The text, under the terms named in the release.", is_free_text=True),
    )
    if source.choices.passages != Passages.TEXTS:
        columns = columns[:-1]
    names = tuple(column.name for column in columns)

    def rows() -> Iterator[Row]:
        lists = RetrievedPassage.objects.filter(topic__study=source.study).order_by()
        used = {
            passage
            for topic, passage in lists.values_list("topic_id", "passage_id").iterator(CHUNK)
            if topic in source.selection.topics
        }
        read = ("external_id", "version", "title", "url", "text")[: len(names)]
        for pk, *values in (
            Passage.objects.filter(study=source.study).order_by("pk").values_list("pk", *read).iterator(CHUNK)
        ):
            if pk in used:
                row = dict(zip(names, values, strict=True))
                yield row | {"title": row["title"] or None, "url": row["url"] or None}

    return ContentTable("passages", "A text of the collection.", columns, rows, ("passage", "passage_version"))


def styles(source: Source) -> ContentTable:
    """Return the styles."""
    columns = (
        ContentColumn("style", "text", False, "The style's name."),
        ContentColumn("style_version", "integer", False, "Version number, from 1. A version never changes."),
        ContentColumn("label", "text", False, "What readers see.", is_free_text=True),
        ContentColumn("instructions", "text", True, "The instructions for writers, in Markdown.", is_free_text=True),
        ContentColumn("target_words", "integer", False, "Target number of words."),
    )
    names = tuple(column.name for column in columns)

    def rows() -> Iterator[Row]:
        styles_of_study = Style.objects.filter(study=source.study).order_by("pk")
        for values in styles_of_study.values_list("name", "version", "label", "instructions", "target_words").iterator(
            CHUNK
        ):
            row = dict(zip(names, values, strict=True))
            yield row | {"instructions": row["instructions"] or None}

    return ContentTable("styles", "A discourse style of responses.", columns, rows, ("style", "style_version"))


def responses(source: Source) -> ContentTable:
    """Return the responses."""
    columns = (
        ContentColumn("response", "text", False, "Its ID."),
        _TOPIC,
        _TOPIC_VERSION,
        ContentColumn("style", "text", False, "The requested style.", "styles.style"),
        ContentColumn("style_version", "integer", False, "The version of the style."),
        ContentColumn("participant", "text", False, "The writer.", "participants.participant"),
        ContentColumn("origin", "text", False, "The origin.", values=("HUMAN", "MODEL", "SYSTEM")),
        ContentColumn("text", "text", False, "The text with its citation markers, as submitted.", is_free_text=True),
        ContentColumn("is_redacted", "boolean", False, "Whether parts are redacted (each character replaced by █)."),
        ContentColumn("words", "integer", False, "Number of words separated by spaces, without markers."),
        ContentColumn("is_included", "boolean", False, "Whether it is included in analyses."),
        ContentColumn("licence", "text", False, "The licence of the text."),
        ContentColumn("submitted_at", "time", True, "When it was submitted."),
        ContentColumn("seconds", "number", True, "Time from the first to the last event of its log."),
        ContentColumn("active_seconds", "number", True, "The same without pauses away from the text."),
    )
    read = (
        "pk", "participant_id", "external_id", "topic__external_id", "topic__version", "style__name",
        "style__version", "origin", "text", "words", "is_included", "submitted_at", "task__seconds",
        "task__active_seconds",
    )  # fmt: skip

    def rows() -> Iterator[Row]:
        responses_of_study = Response.objects.filter(study=source.study).order_by("pk").values(*read)
        for row in responses_of_study.iterator(CHUNK):
            if row["pk"] in source.selection.responses:
                yield _response(source, row)

    return ContentTable(
        "responses", "A text on one topic in one style by one participant.", columns, rows, ("response",)
    )


def _response(source: Source, row: dict[str, Any]) -> Row:
    pk, black, clock = row["pk"], source.selection.blackout, source.clock
    permission = source.selection.writers[row["participant_id"]]
    times_released = not permission.timing
    return {
        "response": row["external_id"],
        "topic": row["topic__external_id"],
        "topic_version": row["topic__version"],
        "style": row["style__name"],
        "style_version": row["style__version"],
        "participant": source.names.of(row["participant_id"]),
        "origin": row["origin"],
        "text": black.text(TextSource.RESPONSE, pk, row["text"]),
        "is_redacted": black.is_black(TextSource.RESPONSE, pk),
        "words": row["words"],
        "is_included": row["is_included"],
        "licence": permission.licence,
        "submitted_at": clock.time(row["submitted_at"], is_released=times_released),
        "seconds": clock.seconds(row["task__seconds"], is_released=times_released),
        "active_seconds": clock.seconds(row["task__active_seconds"], is_released=times_released),
    }


def statements(source: Source) -> ContentTable:
    """Return the statements of the responses."""
    columns = (
        _RESPONSE,
        ContentColumn("statement", "integer", False, "Its number in the response, from 0."),
        ContentColumn("start", "integer", False, "Offset of its first character in the text, in code points from 0."),
        ContentColumn("end", "integer", False, "Offset after its last character."),
        ContentColumn("closing", "text", True, "The punctuation right after the marker.", is_free_text=True),
    )

    def rows() -> Iterator[Row]:
        statements_of_study = Statement.objects.filter(response__study=source.study).order_by("response_id", "position")
        read = ("response_id", "response__external_id", "position", "start", "end", "closing")
        for response, name, position, start, end, closing in statements_of_study.values_list(*read).iterator(CHUNK * 4):
            if response in source.selection.responses:
                yield {
                    "response": name, "statement": position, "start": start, "end": end, "closing": closing or None,
                }  # fmt: skip

    meaning = "A statement: a span of a response up to its citation marker."
    return ContentTable("statements", meaning, columns, rows, ("response", "statement"))


def citations(source: Source) -> ContentTable:
    """Return the passages that statements cite."""
    columns = (
        _RESPONSE,
        ContentColumn("statement", "integer", False, "The statement's number in the response."),
        ContentColumn("rank", "integer", False, "The rank of the passage that it cites, in the topic's list."),
        ContentColumn("passage", "text", False, "The collection's ID of that passage."),
    )
    names = tuple(column.name for column in columns)

    def rows() -> Iterator[Row]:
        citations_of_study = Citation.objects.filter(statement__response__study=source.study)
        ordered = citations_of_study.order_by("statement__response_id", "statement__position", "retrieved__rank")
        read = ("statement__response__external_id", "statement__position", "retrieved__rank")
        values = ordered.values_list("statement__response_id", *read, "retrieved__passage__external_id")
        for response, *row in values.iterator(CHUNK * 4):
            if response in source.selection.responses:
                yield dict(zip(names, row, strict=True))

    return ContentTable(
        "citations", "A citation of a passage by a statement.", columns, rows, ("response", "statement", "rank")
    )


def survey_answers(source: Source) -> ContentTable:
    """Return the writers' answers before and after writing, one question per row."""
    columns = (
        _RESPONSE,
        ContentColumn("survey", "text", False, "The survey's name."),
        ContentColumn("survey_version", "integer", False, "The version of the survey."),
        ContentColumn("question", "text", False, "The question's name.", is_free_text=True),
        ContentColumn("question_text", "text", True, "The text of the question.", is_free_text=True),
        ContentColumn("answer", "json", False, "The answer: a number or text.", is_free_text=True),
    )

    def rows() -> Iterator[Row]:
        surveys = SurveyAnswers.objects.filter(task__study=source.study, task__response__isnull=False)
        read = ("pk", "task__response__pk", "task__response__external_id", "survey__name", "survey__version")
        values = surveys.order_by("task__response__pk", "pk").values_list(*read, "survey__questions", "answers")
        for pk, response, name, survey, version, questions, answers in values.iterator(CHUNK):
            if response not in source.selection.responses:
                continue
            question_texts = {
                question["name"]: question.get("text")
                for question in questions
                if isinstance(question, dict) and "name" in question
            }
            head = {"response": name, "survey": survey, "survey_version": version}
            for question, answer in answers.items():
                if not source.selection.blackout.reason(TextSource.SURVEY, pk, question):
                    released_answer = _released_answer(source, pk, question, answer)
                    yield {
                        **head,
                        "question": question,
                        "question_text": question_texts.get(question),
                        "answer": released_answer,
                    }

    return ContentTable(
        "survey_answers", "A writer's answer to one question.", columns, rows, ("response", "survey", "question")
    )


def _released_answer(source: Source, pk: int, question: str, answer: Any) -> Any:
    if isinstance(answer, str):
        return source.selection.blackout.text(TextSource.SURVEY, pk, answer, question)
    return answer
