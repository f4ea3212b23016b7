"""What others said of a text that is erased, where they quote it: their words go too, their answers stay."""

import re
from collections.abc import Iterable, Iterator

from django.db.models import Q

from crowdrag.studies.models import Participant
from writing.models import Response

from ..models import Assignment, Judgment

# So many words in a row are a quotation; fewer are often the same by chance.
WORDS = 6
_WORD = re.compile(r"\w+")


def erase(participant: Participant) -> None:
    """Erase justifications and comments that quote what this person wrote: of people and of models."""
    for response in Response.objects.filter(participant=participant, erased_at__isnull=True).order_by("pk"):
        runs = frozenset(_runs(response.text))
        about = Q(item__pair__a=response) | Q(item__pair__b=response) | Q(item__response=response)
        said = Judgment.objects.filter(about).order_by("pk")
        reasons = said.exclude(justification="").values_list("pk", "justification")
        Judgment.objects.filter(pk__in=_quoting(runs, reasons)).update(justification="")
        judges = Assignment.objects.filter(pk__in=said.order_by().values("assignment")).exclude(comment="")
        Assignment.objects.filter(pk__in=_quoting(runs, judges.values_list("pk", "comment"))).update(comment="")


def _quoting(runs: frozenset[tuple[str, ...]], said: Iterable[tuple[int, str]]) -> list[int]:
    return [pk for pk, words in said if not runs.isdisjoint(_runs(words))]


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """Yield each so many words in a row, whatever stands between them."""
    words = _WORD.findall(text.casefold())
    return zip(*(words[start:] for start in range(WORDS)), strict=False)
