"""Metadata of a release, for its card, citation and machine-readable files."""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from ..choices import Choices
from ..contents.selection import Exclusion

__all__ = ["FORMAT", "SCHEMA_VERSION", "About", "Creator", "Exclusion", "SourceRun", "is_orcid"]

# Raised when a file of a release changes its place, or a reader of the last version would stumble.
SCHEMA_VERSION = 1
FORMAT = "crowdrag-release"


def is_orcid(text: str) -> bool:
    """Say whether it is an ORCID iD: sixteen digits in groups, the last a check digit (ISO/IEC 7064, MOD 11-2)."""
    if not re.fullmatch(r"(?:[0-9]{4}-){3}[0-9]{3}[0-9X]", text):
        return False
    total = 0
    for digit in text.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11] == text[-1]


@dataclass(frozen=True)
class Creator:
    """A person or group that made the data."""

    name: str
    orcid: str = ""
    affiliation: str = ""


@dataclass(frozen=True)
class SourceRun:
    """A run whose results are in the release."""

    kind: str
    key: str
    inputs_digest: str
    code_version: str
    finished_at: str
    seed: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    stale: str = ""


@dataclass(frozen=True)
class About:
    """Metadata of a release.

    Attributes
    ----------
    slug, version
        name the release: the study's short name, and its number, counted from 1.
    released
        the day on which it was made.
    licence
        of what people wrote and did: an SPDX identifier where there is one.
    licences
        all licences under which people released their texts, where some chose others than `licence`.
    passage_terms
        under which terms retrieved passages are passed on; empty where they are not.
    address
        of the public page; empty where there is none yet.
    doi
        without resolver, as in 10.1000/x; empty where there is none.
    choices
        what the researcher chose.
    left_out, layout_left_out
        what the study has and the release has not; what the CrowdRAG-25 layout cannot say besides.
    changes
        what the researcher says has changed since the last version.
    previous
        the manifest of the last version, or None for the first one.
    """

    slug: str
    version: int
    title: str
    released: date
    licence: str
    description: str = ""
    language: str = "en"
    creators: tuple[Creator, ...] = ()
    contact: str = ""
    licences: tuple[str, ...] = ()
    passage_terms: str = ""
    address: str = ""
    doi: str = ""
    is_simulated: bool = False
    code_version: str = ""
    choices: Choices = field(default_factory=Choices)
    left_out: tuple[Exclusion, ...] = ()
    layout_left_out: tuple[Exclusion, ...] = ()
    runs: tuple[SourceRun, ...] = ()
    changes: str = ""
    previous: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """What the release is called in one word."""
        return f"{self.slug}-v{self.version}"

    @property
    def makers(self) -> str:
        """Return who made it, as a sentence names them."""
        return ", ".join(creator.name for creator in self.creators) or f"The makers of {self.title}"
