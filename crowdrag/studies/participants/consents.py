"""Record and check consent.

Consent is to one version of a text. To start work, a participant needs consent to the current version. Work started
under an earlier version may be finished under it.
"""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from .models import Consent, ConsentText, Participant


class NoConsentError(ValueError):
    """Participants must consent to the study's text before they take part."""


def is_given(*, participant: Participant, text: ConsentText) -> bool:
    """Return whether the participant consented to this version of the text and has not withdrawn consent."""
    return Consent.objects.filter(participant=participant, text=text, withdrawn_at__isnull=True).exists()


def is_given_to_any_version(*, participant: Participant, text: ConsentText) -> bool:
    """Return whether the participant consented to any version of this text."""
    consents = Consent.objects.filter(participant=participant, text__study_id=text.study_id, withdrawn_at__isnull=True)
    return consents.filter(text__name=text.name).exists()


def is_given_to_anything(participant: Participant) -> bool:
    """Return whether the participant has ever consented: nobody works in a study before. Withdrawn consent counts."""
    return Consent.objects.filter(participant=participant).exists()


@transaction.atomic
def give(
    *,
    participant: Participant,
    text: ConsentText,
    now: datetime,
    releases_text: bool = True,
    releases_log: bool = False,
    releases_timing: bool = False,
) -> Consent:
    """Record consent to one version of a text, and what may be released under the licences that it names.

    Consenting again changes what may be released, and the date. A release for which the text names no licence cannot be
    agreed to.
    """
    # The participant's row is the lock: no consent may be recorded during an erasure.
    held = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if held.withdrawn_at or held.erased_at:
        raise NoConsentError(_("You have withdrawn from this study, so you cannot consent to anything."))
    if text.study_id != held.study_id:
        raise NoConsentError(_("This text belongs to another study."))
    released = {
        "releases_text": releases_text,
        "releases_log": releases_log and bool(text.log_licence),
        "releases_timing": releases_timing and bool(text.timing_licence),
    }
    consent, _made = Consent.objects.update_or_create(
        participant=held, text=text, defaults={"given_at": now, "withdrawn_at": None, **released}
    )
    return consent
