"""Structured answers: asked for with a schema, validated strictly, never guessed."""

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import jsonschema
import referencing

from .models import Endpoint
from .requests import Question

INSTRUCTION = (
    "Reply with one JSON document and nothing else: no words before or after it and no code fence. "
    "It must be valid under this JSON schema:\n"
)
LONGEST_QUOTE = 2000


class InvalidAnswerError(ValueError):
    """An answer that does not fit its schema; the message says where."""


def build_messages(
    question: Question, endpoint: Endpoint, *, complaint: tuple[str, str] | None
) -> list[dict[str, str]]:
    """Return the messages to send: with the schema where the server takes none, and with what was wrong last time.

    `complaint` is the last reply and what was wrong with it. It is quoted only where asking the same again would bring
    the same answer; where the server samples, the same question is asked again.
    """
    sent = [dict(message) for message in question.messages]
    if question.schema is None:
        return sent
    if not endpoint.supports_json_schema:
        instruction = INSTRUCTION + json.dumps(question.schema, ensure_ascii=False, sort_keys=True)
        if sent[-1]["role"] == "user":
            sent[-1]["content"] += "\n\n" + instruction
        else:
            sent.append({"role": "user", "content": instruction})
    if complaint and question.is_deterministic:
        reply, problem = complaint
        sent.append({"role": "assistant", "content": reply[:LONGEST_QUOTE] or "(nothing)"})
        sent.append(
            {"role": "user", "content": f"That is not valid: {problem}\n\n{INSTRUCTION}{_schema_text(question)}"}
        )
    return sent


def response_format(question: Question, endpoint: Endpoint) -> dict[str, Any] | None:
    """Return the server's `response_format` for a question, if it takes one."""
    if question.schema is None or not endpoint.supports_json_schema:
        return None
    schema = {"name": "answer", "schema": question.schema, "strict": is_strict(question.schema)}
    return {"type": "json_schema", "json_schema": schema}


def is_strict(schema: Any) -> bool:
    """Whether every object in a schema is closed and requires all it names, which servers' strict modes insist on."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, Mapping):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties or ()):
            return False
    return all(is_strict(part) for part in schema.values())


def parse(text: str | None, schema: Mapping[str, Any]) -> Any:
    """Return the document that an answer is, or raise what is wrong with it.

    The whole answer must be one JSON document that is valid under the schema; nothing is cut out of surrounding words,
    repaired or filled in.
    """
    if not (text or "").strip():
        raise InvalidAnswerError("The answer is empty.")
    try:
        document = json.loads(
            text,  # type: ignore[arg-type] # an empty answer was refused above
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=_no_duplicates,
        )
    except (ValueError, RecursionError) as error:
        raise InvalidAnswerError(f"The answer is not one JSON document: {error}") from error
    validator = _validator(json.dumps(schema, sort_keys=True))
    try:
        problem = jsonschema.exceptions.best_match(validator.iter_errors(document))
    except (RecursionError, referencing.exceptions.Unresolvable) as error:
        raise InvalidAnswerError(f"The answer cannot be checked against the schema: {error}") from error
    if problem is not None:
        raise InvalidAnswerError(f"At {problem.json_path}: {problem.message}"[:500])
    return document


@lru_cache(maxsize=256)
def _validator(schema: str) -> jsonschema.Draft202012Validator:
    """Return the validator of a schema: making one takes longer than using it."""
    # An empty registry: a schema never makes us fetch another one.
    return jsonschema.Draft202012Validator(json.loads(schema), registry=referencing.Registry())


def _schema_text(question: Question) -> str:
    return json.dumps(question.schema, ensure_ascii=False, sort_keys=True)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON.")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large.")
    return number


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _value in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("A name occurs twice in one object.")
    return dict(pairs)
