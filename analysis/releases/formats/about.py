"""Metadata of a release, for its card, citation and machine-readable files."""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from ..choices import Choices
from ..contents.selection import Exclusion, Making

__all__ = ["FORMAT", "SCHEMA_VERSION", "About", "Creator", "Exclusion", "SourceRun", "is_orcid"]

# Increase when a file of a release moves, or when readers of the previous version would fail.
SCHEMA_VERSION = 1
FORMAT = "crowdrag-release"


def is_orcid(text: str) -> bool:
    """Return whether a text is an ORCID iD: 16 characters, the last a check digit (ISO/IEC 7064, MOD 11-2)."""
    if not re.fullmatch(r"(?:[0-9]{4}-){3}[0-9]{3}[0-9X]", text):
        return False
    total = 0
    for digit in text.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11] == text[-1]


@dataclass(frozen=True)
class Creator:
    """A person or group that created the data."""

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
        Identify the release: the study's short name, and the number of the release, from 1.
    released
        Release date.
    licence
        Licence of the participants' contributions: an SPDX identifier if there is one.
    licences
        All licences under which people released their texts, if some chose others than `licence`.
    passage_terms
        Terms under which retrieved passages are redistributed; empty if they are not.
    address
        URL of the public page; empty if there is none yet.
    doi
        Without resolver, as in 10.1000/x; empty if there is none.
    choices
        The researcher's choices.
    makings
        How the texts in the release came about.
    left_out, layout_left_out
        Data of the study that are not in the release; data that only the CrowdRAG-25 layout does not contain.
    changes
        The researcher's description of changes since the previous version.
    previous
        Manifest of the previous version, or None for the first one.
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
    makings: frozenset[Making] = frozenset()
    left_out: tuple[Exclusion, ...] = ()
    layout_left_out: tuple[Exclusion, ...] = ()
    runs: tuple[SourceRun, ...] = ()
    changes: str = ""
    previous: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """Name of the release as one word."""
        return f"{self.slug}-v{self.version}"

    @property
    def makers(self) -> str:
        """Return the creators as part of a sentence."""
        return ", ".join(creator.name for creator in self.creators) or f"The makers of {self.title}"
