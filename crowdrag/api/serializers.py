"""Request bodies, fields and filters that all endpoints share.

Unknown fields of a body and invalid filter values are rejected. The libraries' own classes would silently ignore both.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import IO, Any, Final

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django_filters.fields import IsoDateTimeField
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from crowdrag.studies.enums import Role


class RequestBody(serializers.Serializer[Any]):
    """The body of a request. Unknown fields are rejected, so that misspelt names are noticed."""

    def to_internal_value(self, data: Any) -> Any:
        """Check the names, then the values."""
        if isinstance(data, dict):
            known = {name for name, field in self.fields.items() if not field.read_only}
            if unknown := sorted(str(name) for name in set(data) - known):
                raise serializers.ValidationError(
                    {name: ["This field does not exist here."] for name in unknown}, "unknown"
                )
            # In multipart requests (with files), all values are text.
            if not isinstance(data, QueryDict):
                self._as_described(data)
        return super().to_internal_value(data)

    def _as_described(self, data: dict[Any, Any]) -> None:
        """Reject values of the wrong JSON type, such as 1 for a text, which the framework would convert."""
        wrong: dict[str, list[Any]] = {}
        for name, field in self.fields.items():
            value = data.get(name)
            for kinds, types, name_of_type in _JSON_TYPES:
                if value is not None and isinstance(field, kinds) and not _is_of_type(value, types):
                    wrong[name] = [name_of_type]
                    break
        if wrong:
            raise serializers.ValidationError(wrong, "invalid")


def _is_of_type(value: Any, types: tuple[type, ...]) -> bool:
    # In Python, bool is a subclass of int; in JSON, true is not a number.
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


#: Field classes, accepted types, and error messages. Integers may be sent as 1.0: JSON has only one number type.
_JSON_TYPES: tuple[tuple[tuple[type, ...], tuple[type, ...], Any], ...] = (
    (
        (serializers.CharField, serializers.ChoiceField, serializers.DateTimeField, serializers.UUIDField),
        (str,),
        "Enter a text.",
    ),
    ((serializers.IntegerField, serializers.FloatField), (int, float), "Enter a number."),
    ((serializers.BooleanField,), (bool,), "Enter true or false."),
)


@extend_schema_field({"type": "string", "enum": Role.names})
class RoleField(serializers.Field[Any, Any, Any, Any]):
    """A role by name, for example `VIEWER`."""

    default_error_messages = {"unknown": "One of {roles}."}

    def to_representation(self, value: Any) -> str:
        """Return the role's name."""
        return Role(value).name

    def to_internal_value(self, data: Any) -> Role:
        """Return the role with this name."""
        if not isinstance(data, str) or data not in Role.names:
            self.fail("unknown", roles=", ".join(Role.names))
        return Role[data]


class _StrictBooleanField(forms.NullBooleanField):
    widget = forms.TextInput

    def to_python(self, value: Any) -> bool | None:  # type: ignore[override] # the signature of NullBooleanField
        """Return the value; None if it is empty."""
        if value in (None, ""):
            return None
        if value not in ("true", "false"):
            raise ValidationError("Enter true or false.", code="invalid")
        return bool(value == "true")


class StrictBooleanFilter(django_filters.BooleanFilter):  # type: ignore[misc] # untyped base class
    """A filter by true or false. The library's own filter ignores invalid values and returns everything."""

    field_class = _StrictBooleanField


class IntegerFilter(django_filters.NumberFilter):  # type: ignore[misc] # untyped base class
    """A filter by a whole number. The library's own filter accepts any decimal."""

    field_class = forms.IntegerField


class TimeField(IsoDateTimeField):  # type: ignore[misc] # without types
    """A date-time in UTC, because the database supports fewer offsets than ISO 8601."""

    def to_python(self, value: Any) -> Any:
        """Return the time; reject invalid ones."""
        try:
            time = super().to_python(value)
            return time.astimezone(UTC) if isinstance(time, datetime) else time
        except (OverflowError, ValueError) as error:
            raise ValidationError("The year must be from 1 to 9999.", code="invalid") from error


class TimeFilter(django_filters.IsoDateTimeFilter):  # type: ignore[misc] # without types
    """A filter by a date-time."""

    field_class = TimeField


_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class StorableJSONParser(JSONParser):
    """The framework's parser, but too deep nesting and lone surrogates are malformed input instead of server errors.

    A text with lone surrogates has no UTF-8 encoding, so it can be neither stored nor returned.
    """

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the content of the body."""
        try:
            content = super().parse(stream, media_type, parser_context)
            holds_half = _LONE_SURROGATE.search(json.dumps(content, ensure_ascii=False))
        except RecursionError:
            raise ParseError("The request body is nested too deeply.") from None
        if holds_half:
            raise ParseError("A text contains half a surrogate pair, which is not a valid character. Remove it.")
        return content
