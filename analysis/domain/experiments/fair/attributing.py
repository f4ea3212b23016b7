"""From which documents of its list each answer follows (fair_rag, 3.3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

from django.utils.translation import gettext as _

from analysis.rag.fair.lists import List
from analysis.rag.shapes import Entailment, Query

from .. import entailing
from ..job import Job
from .parameters import Parameters

#: A document entails a claim from this probability on: more likely than not.
ENTAILS = 0.5
#: So many pairs are asked about at a time.
PAIRS = 64


@dataclass(frozen=True)
class Attribution:
    """What follows from what, for the lists of one query.

    Attributes
    ----------
    follows : tuple of tuple of bool
        For each list and each of its documents.
    by : str
        Who says it.
    is_standin : bool
        Whether that is a language model's yes or no instead of an entailment model.
    used : dict of str to int
        What was asked of the generator for it; `failed`: pairs of which nothing could be said.
    """

    follows: tuple[tuple[bool, ...], ...]
    by: str
    is_standin: bool
    used: dict[str, int]

    def write(self) -> dict[str, Any]:
        """Who said it and what it took, as JSON."""
        return {"by": self.by, "is_standin": self.is_standin} | self.used


def attribute(job: Job, query: Query, lists: Sequence[List], said: Sequence[str]) -> Attribution | None:
    """Ask of each answer from which documents of its list it follows; None where the run does not ask.

    Equal claims about one document are asked once. An empty answer is no claim and follows from nothing; so does one of
    which nothing could be said, which is counted.

    Parameters
    ----------
    job : Job
    query : Query
    lists : sequence of tuple of int
        Documents by their places.
    said : sequence of str
        The answer to each list.
    """
    parameters: Parameters = job.parameters
    entailment = entailing.entailment(parameters.entailment, job.generator)
    if entailment is None:
        return None
    before = asdict(job.usage)
    claims = {(place, text): None for each, text in zip(lists, said, strict=True) for place in each if text}
    found = _ask(job, entailment, query, list(claims))
    after = asdict(job.usage)
    used = {
        "prompts": sum(after[name] - before[name] for name in ("calls", "stored")),
        **{name: after[name] - before[name] for name in ("prompt_tokens", "completion_tokens")},
        "failed": sum(map(isnan, found.values())),
    }
    follows = tuple(
        tuple(found.get((place, text), 0.0) > ENTAILS for place in each) for each, text in zip(lists, said, strict=True)
    )
    return Attribution(follows, entailment.name, entailment.is_standin, used)


def _ask(
    job: Job, entailment: Entailment, query: Query, claims: Sequence[tuple[int, str]]
) -> dict[tuple[int, str], float]:
    """Probabilities by document and claim; claims about one document stand together, so that its text is read once."""
    parameters: Parameters = job.parameters
    ordered = sorted(claims)
    found: dict[tuple[int, str], float] = {}
    for start in range(0, len(ordered), PAIRS):
        job.report(start, len(ordered), _("What follows from which document"), by_answer=True)
        part = ordered[start : start + PAIRS]
        pairs = [(_premise(query, place), _claim(query, text, parameters)) for place, text in part]
        found |= dict(zip(part, entailment.probabilities(pairs).tolist(), strict=True))
    return found


def _premise(query: Query, place: int) -> str:
    document = query.documents[place]
    return f"{document.title}\n{document.text}" if document.title else document.text


def _claim(query: Query, text: str, parameters: Parameters) -> str:
    return text if parameters.claim == "answer" else f"{query.question.strip()} {text}"
