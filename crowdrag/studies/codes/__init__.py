"""Codes of standards: languages (BCP 47), currencies (ISO 4217), countries (ISO 3166-1) and licences (SPDX).

Models state them as validators, so that forms and the API refuse what no standard knows. Imports take what is
published as it is.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from django.core.exceptions import ValidationError
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

FOLDER: Final = Path(__file__).parent
#: Language, and then perhaps script, region and variants (RFC 5646, section 2.1; extensions are not needed here).
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
    """Say whether a code of ISO 639 names a language."""
    return code.lower() in known("languages")


def is_country(code: str) -> bool:
    """Say whether a code of ISO 3166-1 names a country."""
    return code.upper() in known("countries")


def validate_language(tag: str) -> None:
    """Raise `ValidationError` for what is not a BCP 47 tag of a known language."""
    parts = TAG.fullmatch(tag)
    region = parts["region"] if parts else None
    if not parts or not is_language(parts["language"]) or (region and region.isalpha() and not is_country(region)):
        raise ValidationError(
            f"“{tag}” is not a known language. Enter a BCP 47 tag, such as en, de or pt-BR.",
            code="unknown_language",
        )


def validate_currency(code: str) -> None:
    """Raise `ValidationError` for what is not a currency in use."""
    if code not in known("currencies"):
        raise ValidationError(
            f"“{code}” is not a known currency. Enter an ISO 4217 code, such as USD or EUR.",
            code="unknown_currency",
        )


def unknown_licences(content: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with licences, by the name of their field; an empty one is none."""
    problems: dict[str, str] = {}
    for name, expression in content.items():
        if name.endswith("_licence") and expression:
            try:
                validate_licence(expression)
            except ValidationError as error:
                problems[name] = " ".join(error.messages)
    return problems


def validate_licence(expression: str) -> None:
    """Raise `ValidationError` for what is not an SPDX licence expression; a licence of one's own is LicenseRef-NAME."""
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
