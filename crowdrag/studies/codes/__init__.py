"""Codes of standards: languages (BCP 47), currencies (ISO 4217), countries (ISO 3166-1) and licences (SPDX).

Models use them as validators, so that forms and the API reject codes that no standard knows. Imports accept published
data unchanged.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from django.core.exceptions import ValidationError
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

FOLDER: Final = Path(__file__).parent
#: Language, then optionally script, region and variants (RFC 5646, section 2.1; extensions are not needed here).
TAG: Final = re.compile(
    r"(?P<language>[a-z]{2,3})(-[a-z]{4})?(-(?P<region>[a-z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*",
    re.IGNORECASE,
)


@cache
def known(name: str) -> frozenset[str]:
    """Return the codes of a list: `languages`, `currencies` or `countries`."""
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    return frozenset(code for line in lines if not line.startswith("#") for code in line.split())


def is_language(code: str) -> bool:
    """Return whether an ISO 639 code names a language."""
    return code.lower() in known("languages")


def is_country(code: str) -> bool:
    """Return whether an ISO 3166-1 code names a country."""
    return code.upper() in known("countries")


def validate_language(tag: str) -> None:
    """Raise `ValidationError` unless this is a BCP 47 tag of a known language."""
    parts = TAG.fullmatch(tag)
    region = parts["region"] if parts else None
    if not parts or not is_language(parts["language"]) or (region and region.isalpha() and not is_country(region)):
        raise ValidationError(
            f"“{tag}” is not a known language. Enter a BCP 47 tag, such as en, de or pt-BR.",
            code="unknown_language",
        )


def validate_currency(code: str) -> None:
    """Raise `ValidationError` unless this is a currency in use."""
    if code not in known("currencies"):
        raise ValidationError(
            f"“{code}” is not a known currency. Enter an ISO 4217 code, such as USD or EUR.",
            code="unknown_currency",
        )


def unknown_licences(content: Mapping[str, str]) -> dict[str, str]:
    """Return the errors of licences by field name; an empty licence is valid."""
    problems: dict[str, str] = {}
    for name, expression in content.items():
        if name.endswith("_licence") and expression:
            try:
                validate_licence(expression)
            except ValidationError as error:
                problems[name] = " ".join(error.messages)
    return problems


def validate_licence(expression: str) -> None:
    """Raise `ValidationError` unless this is an SPDX licence expression; a custom licence is LicenseRef-NAME."""
    try:
        canonicalize_license_expression(expression)
    except InvalidLicenseExpression:
        raise ValidationError(
            (
                f"“{expression}” is not a known licence. Enter an SPDX identifier, such as CC-BY-4.0, or LicenseRef- "
                "and "
                "a name for a licence of your own."
            ),
            code="unknown_licence",
        ) from None
