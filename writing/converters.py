"""Ids of topics, responses, styles and tasks in addresses."""

from django.urls.converters import StringConverter


class IdentifierConverter(StringConverter):
    """An id as it was imported, which may hold slashes. Addresses that go on after an id stand before its own."""

    regex = r"[\s\S]+"
