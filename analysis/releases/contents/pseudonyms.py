"""The names of people in a release."""

import hashlib
import hmac
from functools import cached_property

from django.conf import settings

from crowdrag.studies.enums import PEOPLE
from crowdrag.studies.models import Participant, Study

from ..choices import Choices, Pseudonyms

#: Characters of a new pseudonym after its `p`.
LENGTH = 16


class Names:
    """Mapping from the study's pseudonyms of people to those of the release; models and systems keep their names.

    A new pseudonym is a keyed hash of the study's pseudonym. The key depends on the system's secret, the study and the
    release: a rebuilt release has the same pseudonyms, and nobody else can link people across releases.
    """

    def __init__(self, study: Study, choices: Choices, release: str) -> None:
        self._study = study
        self._is_fresh = choices.pseudonyms == Pseudonyms.FRESH
        self._salt = f"release\0{study.slug}\0{release}\0"

    def of(self, pk: int) -> str:
        """Return a participant's name in the release."""
        return self._names[pk]

    def said_as(self, external_id: str) -> str | None:
        """Return the released form of a name in result tables; None if the study does not have it."""
        pk = self.key(external_id)
        return None if pk is None else self._names[pk]

    def key(self, external_id: str) -> int | None:
        """Return the primary key of the participant with this name; people take precedence over models."""
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
            pk: self._fresh(f"{kind}\0{name}") if self._is_fresh and kind in PEOPLE else name
            for pk, kind, name in self._people
        }

    @cached_property
    def _keys(self) -> dict[str, int]:
        ordered = sorted(self._people, key=lambda person: person[1] in PEOPLE)
        return {name: pk for pk, _kind, name in ordered}
