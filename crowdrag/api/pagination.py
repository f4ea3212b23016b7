"""Keyset pagination of lists.

A cursor identifies the last returned row by its values of the sort fields. The database finds this position by an
index, and rows that are added or removed meanwhile do not shift pages. The framework's own cursor is slow here: it
counts rows with equal values one by one, and thousands of imported rows have the same time.
"""

import base64
import binascii
import json
from typing import Any

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Field, Model, Q
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from .problems import Problem, parameter_problem

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000


class KeysetPagination(BasePagination):
    """Pagination by a view's `order`, e.g. `("-created_at", "-id")`: the last field is unique, and none is null."""

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any] | None:
        """Return the rows of the requested page."""
        self._order: tuple[str, ...] = view.order  # type: ignore[union-attr]
        self._request = request
        limit = self._limit(request.query_params.get("limit"))
        if (cursor := request.query_params.get("cursor")) is not None:
            queryset = queryset.filter(rows_after(queryset.model, self._order, cursor))
        rows = list(queryset.order_by(*self._order)[: limit + 1])
        self._more = len(rows) > limit
        self._page = rows[:limit]
        return self._page

    def get_paginated_response(self, data: Any) -> Response:
        """Return a response with the rows and the URL of the next page."""
        return Response({"next": self._next(), "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of a page."""
        following = {"type": ["string", "null"], "format": "uri", "description": "URL of the next page."}
        return {"type": "object", "required": ["next", "results"], "properties": {"next": following, "results": schema}}

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        """Return the parameters for the API description."""
        whole = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}
        return [
            {"name": "limit", "in": "query", "schema": whole, "description": "Maximum number of rows."},
            {
                "name": "cursor",
                "in": "query",
                "schema": {"type": "string"},
                "description": "Start of the page. Use the URL in `next` unchanged.",
            },
        ]

    def _limit(self, text: str | None) -> int:
        if text is None:
            return DEFAULT_LIMIT
        if (
            not (text.isascii() and text.isdigit())
            or not 1 <= int(text[:6]) <= MAX_LIMIT
            or len(text) > len(str(MAX_LIMIT))
        ):
            raise parameter_problem("limit", f"Enter a number from 1 to {MAX_LIMIT}.")
        return int(text)

    def _next(self) -> str | None:
        if not self._more:
            return None
        last = self._page[-1]
        values = [_value(last, name.removeprefix("-")) for name in self._order]
        content = json.dumps(values, cls=DjangoJSONEncoder, separators=(",", ":"))
        parameters = self._request.query_params.copy()
        parameters["cursor"] = base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")
        return self._request.build_absolute_uri(f"{self._request.path}?{parameters.urlencode()}")


def rows_after(model: type[Model], order: tuple[str, ...], cursor: str) -> Q:
    """Return the condition for rows after the row of a cursor.

    Raises
    ------
    Problem
        If the cursor does not belong to this list.
    """
    fields = [_field(model, name.removeprefix("-")) for name in order]
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        keys = json.loads(base64.urlsafe_b64decode(padded.encode("ascii")))
        if not isinstance(keys, list) or len(keys) != len(order) or not all(isinstance(one, str | int) for one in keys):
            raise _cursor_problem()
        values = [field.to_python(one) for field, one in zip(fields, keys, strict=True)]
    except (ValueError, ValidationError, binascii.Error, RecursionError, OverflowError):
        raise _cursor_problem() from None
    if any(value is None or (isinstance(value, str) and "\x00" in value) for value in values):
        raise _cursor_problem()
    condition, before = Q(), Q()
    for name, value in zip(order, values, strict=True):
        plain, way = name.removeprefix("-"), "lt" if name.startswith("-") else "gt"
        condition |= before & Q(**{f"{plain}__{way}": value})
        before &= Q(**{plain: value})
    # This condition is redundant, but allows the database to use an index.
    first, way = order[0].removeprefix("-"), "lte" if order[0].startswith("-") else "gte"
    return Q(**{f"{first}__{way}": values[0]}) & condition


def _cursor_problem() -> Problem:
    return parameter_problem("cursor", "This cursor does not belong to this list. Use the URL in `next` unchanged.")


def _field(model: type[Model], path: str) -> "Field[Any, Any]":
    """Return the field at a path such as `task__writer_id`."""
    *relations, name = path.split("__")
    for relation in relations:
        related = model._meta.get_field(relation).related_model
        assert isinstance(related, type)
        model = related
    try:
        model_field = model._meta.get_field(name)
    except FieldDoesNotExist:
        model_field = next(field for field in model._meta.concrete_fields if field.attname == name)
    return model_field  # type: ignore[return-value]


def _value(row: Any, path: str) -> Any:
    for name in path.split("__"):
        row = getattr(row, name)
    return row
