"""By which names people go in a release (docs/adr/0003: what leaves the system carries pseudonyms only)."""

import hashlib
import hmac
from functools import cached_property

from django.conf import settings

from crowdrag.studies.models import Participant, Study

from ..choices import Choices, Pseudonyms
from .people import PERSONS

LENGTH = 16


class Names:
    """Turns the study's pseudonyms of people into those of the release; models and systems keep their names.

    A fresh pseudonym is a keyed hash of the study's own, the key being the system's, the study and the release: whoever
    builds the release again finds the same ones, and nobody else can tell two releases' people apart or together.
    """

    def __init__(self, study: Study, choices: Choices, release: str) -> None:
        self._study = study
        self._is_fresh = choices.pseudonyms == Pseudonyms.FRESH
        self._salt = f"release\0{study.slug}\0{release}\0"

    def of(self, pk: int) -> str:
        """Return a participant's name in the release."""
        return self._names[pk]

    def said_as(self, external_id: str) -> str | None:
        """Return the name of whoever the study calls so, in a table of results; None where it knows nobody so."""
        pk = self.key(external_id)
        return None if pk is None else self._names[pk]

    def key(self, external_id: str) -> int | None:
        """Return the key of whoever the study calls so; of a person before a model of the same name."""
        return self._keys.get(external_id)

    def _fresh(self, external_id: str) -> str:
        message = f"{self._salt}{external_id}".encode()
        return "p" + hmac.new(settings.PSEUDONYM_KEY.encode(), message, hashlib.sha256).hexdigest()[:LENGTH]

    @cached_property
    def _people(self) -> list[tuple[int, str, str]]:
        rows = Participant.objects.filter(study=self._study).order_by("pk")
        return list(rows.values_list("pk", "kind", "external_id"))

    @cached_property
    def _names(self) -> dict[int, str]:
        return {
            pk: self._fresh(f"{kind}\0{name}") if self._is_fresh and kind in PERSONS else name
            for pk, kind, name in self._people
        }

    @cached_property
    def _keys(self) -> dict[str, int]:
        ordered = sorted(self._people, key=lambda each: each[1] in PERSONS)
        return {name: pk for pk, _kind, name in ordered}
