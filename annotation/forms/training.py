"""The answers to a training item."""

from collections.abc import Mapping, Sequence

from ..models import Dimension


def values(dimensions: Sequence[Dimension], given: Mapping[str, str]) -> dict[int, int]:
    """Return the answers that were sent, by dimension; what is no number counts as not answered."""
    found = {}
    for each in dimensions:
        sent = given.get(f"q-{each.pk}", "")
        if sent.lstrip("-").isascii() and sent.lstrip("-").isdigit() and len(sent) < 6:
            found[each.pk] = int(sent)
    return found
