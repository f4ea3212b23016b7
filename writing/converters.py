"""URL converters."""

from typing import Final

from django.urls import register_converter
from django.urls.converters import StringConverter


class IdentifierConverter(StringConverter):
    """An imported ID, which may contain slashes. Longer URLs must come before the URL that ends with the ID."""

    regex = r"[\s\S]+"


IDENTIFIER: Final = "identifier"
register_converter(IdentifierConverter, IDENTIFIER)
