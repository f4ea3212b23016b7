"""What may be released of each person, by their consents.

The latest consent that a person gave to the text shown for an activity counts: consent to a campaign does not cover
writing elsewhere in the study, nor the other way round. People imported with a published corpus have no consent here
and need none; people who took part here without a consent are left out.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from annotation.models import Campaign
from crowdrag.studies.enums import PEOPLE
from crowdrag.studies.models import Consent, Participant, Study
from writing.models import WritingPlan

from ..choices import Choices

ERASED = "people had their data erased"
WITHDRAWN = "people withdrew their consent"
NEVER_ASKED = "there is no recorded consent of the people who gave them"
NOT_AGREED = "people did not agree to the release"
OTHER_TERMS = "people agreed to the release under other terms ({licence})"
#: Licence of texts that may be released under any terms.
FREE = "CC0-1.0"


@dataclass(frozen=True, slots=True)
class Permission:
    """What may be released of a person: an empty reason means yes, otherwise it says why not."""

    judgments: str = ""
    text: str = ""
    log: str = ""
    timing: str = ""
    # Licence under which they released the text.
    licence: str = ""


@dataclass(frozen=True, slots=True)
class _Answer:
    name: str
    withdrawn: bool
    releases: tuple[bool, bool, bool]
    licences: tuple[str, str, str]


class Permissions:
    """Participants of a study and their consents; a few hundred bytes for each consent."""

    def __init__(self, study: Study, choices: Choices) -> None:
        self._study = study
        text = choices.licence or study.text_licence
        self.licences = (text, choices.log_licence or text, choices.timing_licence or text)
        self._known: dict[_Answer, Permission] = {}

    def writer(self, pk: int, *, elsewhere: bool) -> Permission:
        """Return what may be released of a person's writing; `elsewhere`: not written in this system."""
        judging = self._campaign_texts - self._plan_texts
        consents = [consent for consent in self._consents.get(pk, ()) if consent.name not in judging]
        return self._permission(pk, consents, elsewhere=elsewhere)

    def judge(self, pk: int, campaign: int) -> Permission:
        """Return what may be released of a person's judgments in a campaign."""
        name, handed_out = self._campaigns[campaign]
        consents = [consent for consent in self._consents.get(pk, ()) if not name or consent.name == name]
        return self._permission(pk, consents, elsewhere=not handed_out)

    def _permission(self, pk: int, consents: list[_Answer], *, elsewhere: bool) -> Permission:
        if pk in self._erased:
            return _refused(ERASED)
        if pk not in self._persons:
            return self._free
        if consents:
            return self._cached_permission(consents[-1])
        return self._free if elsewhere else _refused(NEVER_ASKED)

    def _cached_permission(self, consent: _Answer) -> Permission:
        if consent not in self._known:
            self._known[consent] = self._read(consent)
        return self._known[consent]

    def _read(self, consent: _Answer) -> Permission:
        if consent.withdrawn:
            return _refused(WITHDRAWN)
        rows = zip(consent.releases, consent.licences, self.licences, strict=True)
        text, log, timing = (_reason(*row) for row in rows)
        return Permission("", text, log, timing, consent.licences[0] or self.licences[0])

    @cached_property
    def _free(self) -> Permission:
        return Permission(licence=self.licences[0])

    @cached_property
    def _persons(self) -> frozenset[int]:
        # There is nobody behind simulated participants who could consent.
        participants = Participant.objects.filter(study=self._study, kind__in=PEOPLE, is_simulated=False)
        return frozenset(() if self._study.is_simulated else participants.values_list("pk", flat=True))

    @cached_property
    def _erased(self) -> frozenset[int]:
        gone = Participant.objects.filter(study=self._study, erased_at__isnull=False)
        return frozenset(gone.values_list("pk", flat=True))

    @cached_property
    def _consents(self) -> dict[int, list[_Answer]]:
        consents: dict[int, list[_Answer]] = defaultdict(list)
        rows = Consent.objects.filter(participant__study=self._study).order_by("given_at", "pk")
        kept: dict[_Answer, _Answer] = {}  # shares equal answers, of which there are few
        for consent in rows.select_related("text").iterator(chunk_size=2000):
            text = consent.text
            terms = _Answer(
                text.name,
                consent.withdrawn_at is not None,
                (consent.releases_text, consent.releases_log, consent.releases_timing),
                (text.text_licence or self._study.text_licence, text.log_licence, text.timing_licence),
            )
            consents[consent.participant_id].append(kept.setdefault(terms, terms))
        return dict(consents)

    @cached_property
    def _campaigns(self) -> dict[int, tuple[str, bool]]:
        rows = Campaign.objects.filter(study=self._study).values_list("pk", "consent_text__name", "has_slots")
        return {pk: (name or "", handed_out) for pk, name, handed_out in rows}

    @cached_property
    def _campaign_texts(self) -> frozenset[str]:
        return frozenset(name for name, _handed_out in self._campaigns.values() if name)

    @cached_property
    def _plan_texts(self) -> frozenset[str]:
        plans = WritingPlan.objects.filter(study=self._study, consent_text__isnull=False)
        return frozenset(plans.values_list("consent_text__name", flat=True))


def _refused(reason: str) -> Permission:
    return Permission(reason, reason, reason, reason)


def _reason(agreed: bool, licence: str, offered: str) -> str:
    if not agreed or not licence:
        return NOT_AGREED
    return "" if _same(licence, offered) else OTHER_TERMS.format(licence=licence)


def _same(agreed: str, offered: str) -> bool:
    return _spelt(agreed) in (_spelt(offered), _spelt(FREE))


def _spelt(licence: str) -> str:
    """Normalise the name of a licence: `CC BY 4.0` equals `CC-BY-4.0`."""
    return "-".join(licence.casefold().replace("_", " ").replace("-", " ").split())
