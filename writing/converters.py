"""URL converters."""

from typing import Final

from django.urls import register_converter
from django.urls.converters import StringConverter


class IdentifierConverter(StringConverter):
    """An id as it was imported, which may hold slashes. Addresses that go on after an id stand before its own."""

    regex = r"[\s\S]+"


IDENTIFIER: Final = "identifier"
register_converter(IdentifierConverter, IDENTIFIER)
