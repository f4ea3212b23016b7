"""Files of annotations: one JSON object, {annotator: {item: label}}, gzipped or not.

What can be used is used. The rest is set aside, counted and located: a label that is missing or not of the expected
kind, an item or annotator that stands twice, an annotator without an object of labels.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from analysis.stats.alternative_annotator import Scoring
from writing.corpus.imports.sources import UNREADABLE, unpack

#: Items that are named for each reason and annotator.
EXAMPLES: Final = 10

MISSING: Final = "the label is missing (null, NaN or an empty text)"
NOT_A_LABEL: Final = "the label is a list or an object"
NOT_A_NUMBER: Final = "the label is not a finite number, which rmse needs"
TWICE: Final = "the item stands twice: the last label is used"
ANNOTATOR_TWICE: Final = "the annotator stands twice: the labels that stand last are used"
NO_OBJECT: Final = "there are no labels: an object {item: label} is expected"


class BadAnnotationFileError(ValueError):
    """A file cannot be read; the message says what is wrong, where, and what is expected."""


@dataclass(frozen=True)
class SetAside:
    """What was not used of an annotator's labels, for one reason.

    Attributes
    ----------
    file, annotator, reason : str
        `annotator` is a person or a judge; empty if it concerns the whole file.
    count : int
        Number of labels, or 1 for an annotator.
    examples : tuple of str
        The first items.
    """

    file: str
    annotator: str
    reason: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class AnnotationFile:
    """The labels of one file.

    Attributes
    ----------
    labels : dict of str to dict of str to label
        By annotator and item, in the order of the file. Labels are texts, numbers or booleans; with `Scoring.RMSE`
        only numbers.
    set_aside : tuple of SetAside
    sha256 : str
        Digest of the file's bytes, as stored.
    """

    name: str
    labels: dict[str, dict[str, Hashable]]
    set_aside: tuple[SetAside, ...]
    sha256: str

    @property
    def items(self) -> set[str]:
        """The items with at least one label."""
        return {item for labels in self.labels.values() for item in labels}


@dataclass
class _Counts:
    """Counts what is set aside, by annotator and reason."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    items: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, annotator: str, reason: str, item: str | None = None) -> None:
        key = annotator, reason
        self.counts[key] += 1
        examples = self.items.setdefault(key, [])
        if item is not None and len(examples) < EXAMPLES:
            examples.append(item)

    def rows(self, file: str) -> tuple[SetAside, ...]:
        return tuple(
            SetAside(file, annotator, reason, count, tuple(self.items[annotator, reason]))
            for (annotator, reason), count in self.counts.items()
        )


class _Pairs(list[tuple[str, Any]]):
    """The members of a JSON object in order, including repeated ones."""


def read_people(path: Path, scoring: Scoring) -> AnnotationFile:
    """Read the labels of people, {person: {item: label}}.

    Raises
    ------
    BadAnnotationFileError
        If the file cannot be read, is not JSON, or has no usable label.
    """
    members, digest = _members(path)
    return _annotations(path.name, members, digest, scoring)


def read_judges(path: Path, scoring: Scoring) -> AnnotationFile:
    """Read the labels of judges, {judge: {item: label}}; or of one judge, {item: label}, who is named after the file.

    Raises
    ------
    BadAnnotationFileError
        If the file cannot be read, is not JSON, or has no usable label.
    """
    members, digest = _members(path)
    if members and not any(isinstance(labels, _Pairs) for _name, labels in members):
        members = _Pairs([(path.name.split(".")[0] or path.name, members)])
    return _annotations(path.name, members, digest, scoring)


def _members(path: Path) -> tuple[_Pairs, str]:
    try:
        content = path.read_bytes()
        text = unpack(io.BytesIO(content)).read().decode("utf-8-sig")
        members = json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        msg = f"{path} is not valid JSON (line {error.lineno}, column {error.colno}: {error.msg}). {_EXPECTED}"
        raise BadAnnotationFileError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{path} is not UTF-8 (byte {error.start:,}). Save it as UTF-8, or compress it with gzip."
        raise BadAnnotationFileError(msg) from error
    except (*UNREADABLE, ValueError) as error:
        msg = f"{path} is damaged or incomplete ({error or type(error).__name__}). Copy the file again."
        raise BadAnnotationFileError(msg) from error
    except OSError as error:
        msg = f"{path} cannot be read ({error.strerror or error}). Give a file of annotations."
        raise BadAnnotationFileError(msg) from error
    if not isinstance(members, _Pairs):
        msg = f"{path} is not one JSON object. {_EXPECTED}"
        raise BadAnnotationFileError(msg)
    return members, hashlib.sha256(content).hexdigest()


_EXPECTED: Final = 'One JSON object is expected, for example {"anna": {"item 1": "A", "item 2": "B"}}.'


def _annotations(name: str, members: _Pairs, digest: str, scoring: Scoring) -> AnnotationFile:
    counts = _Counts()
    labels: dict[str, dict[str, Hashable]] = {}
    for annotator, labels_of_annotator in members:
        if not isinstance(labels_of_annotator, _Pairs):
            counts.add(annotator, NO_OBJECT)
            continue
        if annotator in labels:
            counts.add(annotator, ANNOTATOR_TWICE)
        labels[annotator] = _labels(annotator, labels_of_annotator, scoring, counts)
    if not any(labels.values()):
        msg = f"{name} has no usable label. {_EXPECTED} With rmse, labels are numbers."
        raise BadAnnotationFileError(msg)
    return AnnotationFile(name, labels, counts.rows(name), digest)


def _labels(annotator: str, members: _Pairs, scoring: Scoring, counts: _Counts) -> dict[str, Hashable]:
    labels: dict[str, Hashable] = {}
    seen = set()
    for item, value in members:
        if item in seen:
            counts.add(annotator, TWICE, item)
            labels.pop(item, None)
        seen.add(item)
        label, problem = _label(value, scoring)
        if problem:
            counts.add(annotator, problem, item)
        else:
            labels[item] = label
    return labels


def _label(value: Any, scoring: Scoring) -> tuple[Hashable, str]:
    """Return a label, or the reason why the value is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None, MISSING
    if isinstance(value, str) and not value.strip():
        return None, MISSING
    if isinstance(value, list):
        return None, NOT_A_LABEL
    if scoring is Scoring.ACCURACY:
        return value, ""
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None, NOT_A_NUMBER
    return (number, "") if math.isfinite(number) else (None, NOT_A_NUMBER)
