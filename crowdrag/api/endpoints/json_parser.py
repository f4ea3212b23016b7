"""Bodies of JSON, as far as they can be kept."""

import json
import re
from collections.abc import Mapping
from typing import IO, Any, Final

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

_HALF_A_PAIR: Final = re.compile("[\ud800-\udfff]")


class StorableJSONParser(JSONParser):
    """The framework's, but what is nested too deeply or holds half a surrogate pair is malformed, and no error of ours.

    Such a text has no UTF-8, so neither the database nor an answer can hold it.
    """

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return what the body holds."""
        try:
            found = super().parse(stream, media_type, parser_context)
            holds_half = _HALF_A_PAIR.search(json.dumps(found, ensure_ascii=False))
        except RecursionError:
            raise ParseError(_("The body is nested too deeply.")) from None
        if holds_half:
            raise ParseError(_("A text holds half a surrogate pair, which is no character. Leave it out."))
        return found
