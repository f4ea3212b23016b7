"""The reference of the API, from its OpenAPI description."""

import re
from collections.abc import Iterator
from typing import Any, Final

from drf_spectacular.generators import SchemaGenerator

from .markdown import table

_BEGINNING: Final = """\
# API

This page is for developers. It lists every endpoint under `/api/v1/` with the role and the token scope that it
needs, its parameters and the fields that it takes. It is written from the OpenAPI description (`make
reference`). The running system offers the description itself at `/api/v1/schema/`, with the fields of all
answers, and the page **API** in your account's menu lets you try each endpoint. [The API](../guides/api.md)
shows how to begin, and explains pages of lists, errors, conditional requests and repeated requests.
"""
#: Headers that many endpoints take, which the guide explains once.
_EXPLAINED_IN_GUIDE: Final = {"If-None-Match", "If-Match", "Idempotency-Key"}


def page() -> str:
    """Return the page."""
    description: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    by_tag: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for address, methods in description["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append((method.upper(), address, operation))
    components = description["components"]["schemas"]
    lines = [_BEGINNING]
    for tag in sorted(by_tag):
        lines += [f"## {tag}", ""]
        for method, address, operation in by_tag[tag]:
            lines += _operation(method, address, operation, components)
    return "\n".join(lines).rstrip() + "\n"


def _operation(method: str, address: str, operation: dict[str, Any], components: dict[str, Any]) -> Iterator[str]:
    yield from (f"### {method} {address}", "", operation.get("summary", ""), "")
    if text := operation.get("description", "").strip():
        yield from (text, "")
    rows = [
        (f"`{each['name']}`", _kind(each.get("schema", {}), components), _meaning(each))
        for each in operation.get("parameters", ())
        if each["in"] != "path" and each["name"] not in _EXPLAINED_IN_GUIDE
    ]
    yield from table(("parameter", "type", "meaning"), rows)
    for content in operation.get("requestBody", {}).get("content", {}).values():
        body = _resolved(content.get("schema", {}), components)
        required = set(body.get("required", ()))
        rows = [
            (
                f"`{name}`" + ("" if name in required else " (optional)"),
                _kind(field, components),
                field.get("description", ""),
            )
            for name, field in body.get("properties", {}).items()
        ]
        yield from table(("field", "type", "meaning"), rows)
        break


def _field(name: str, body: dict[str, Any]) -> str:
    return f"`{name}`" if name in body.get("required", ()) else f"`{name}` (optional)"


def _meaning(field: dict[str, Any]) -> str:
    """Return the name and description of a field, with the meanings of its values in the same line."""
    text = re.sub(r"^\* (`\w+`) - (.*)$", r"\1: \2,", field.get("description", ""), flags=re.MULTILINE).rstrip(",\n ")
    title = field.get("title", "")
    return f"{title}. {text}" if title and text else title or text


def _resolved(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    return schema


def _kind(schema: dict[str, Any], components: dict[str, Any]) -> str:
    """Return the type of a field in words."""
    for key in ("oneOf", "anyOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_kind(each, components) for each in schema[key]))
    schema = _resolved(schema, components)
    if values := schema.get("enum"):
        return ", ".join(f"`{value}`" for value in values if value is not None)
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}), components)}"
    kinds = schema.get("type", "any")
    return " or ".join(kinds) if isinstance(kinds, list) else str(schema.get("format", kinds))
