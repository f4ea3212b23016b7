"""Entities on the leaderboard: participants, and all responses of an origin together."""

from dataclasses import dataclass

import numpy as np

from ...inputs.arrays import Inputs, Ints

PARTICIPANT, ORIGIN = "participant", "origin"
#: The origin of people's responses in tables.
HUMAN = "human"
#: Smaller differences between resamples are rounding errors of equal values.
NEVER_VARIES = 1e-9
#: Note of each row if the labels are single votes.
UNCORRECTED = "from one judgment per pair, so the competence of the judges is unknown"


@dataclass(frozen=True, eq=False)
class Board:
    """The ranked entities: participants, or the origins of responses.

    Attributes
    ----------
    kind : str
    names, origins : list of str
        Of all entities, whether compared or not.
    whose : ndarray of int, shape (n_responses,)
        The entity of each response of the inputs.
    """

    kind: str
    names: list[str]
    origins: list[str]
    whose: Ints


def boards(inputs: Inputs) -> tuple[Board, Board]:
    """Return the boards of participants and of origins."""
    origin_of = {response.participant: response.origin for response in reversed(inputs.responses)}
    people = sorted(origin_of)
    origins = sorted({response.origin for response in inputs.responses})
    by_person = np.searchsorted(people, [response.participant for response in inputs.responses])
    by_origin = np.searchsorted(origins, [response.origin for response in inputs.responses])
    return (
        Board(PARTICIPANT, people, [origin_of[name] for name in people], by_person),
        Board(ORIGIN, origins, origins, by_origin),
    )
