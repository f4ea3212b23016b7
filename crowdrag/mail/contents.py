"""The text of an email in the study's language, as plain text and simple HTML."""

from dataclasses import dataclass
from email.utils import parseaddr
from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from crowdrag.studies import activities
from crowdrag.studies.money import format_amount
from crowdrag.studies.page_language import in_study_language
from crowdrag.studies.participants import identity

from .enums import Event
from .models import Mail, MailAddress


@dataclass(frozen=True)
class MailText:
    """A subject, and sentences, one per paragraph."""

    subject: str
    sentences: list[str]


def build(mail: Mail, address: MailAddress, *, connection: Any = None) -> EmailMultiAlternatives:
    """Return an email that can be sent; the same row always gives the same Message-ID."""
    study = mail.participant.study
    with in_study_language(study):
        text = write(mail)
        stop = urljoin(address.base, reverse("mail_stop", args=[address.key]))
        context = {
            "study": study,
            "sentences": text.sentences,
            "dashboard": urljoin(address.base, reverse("participant_dashboard", args=[study.slug])),
            "stop": stop,
            "language": translation.get_language(),
            "is_right_to_left": translation.get_language_bidi(),
        }
        plain, html = render_to_string("mail/mail.txt", context), render_to_string("mail/mail.html", context)
    sender = settings.DEFAULT_FROM_EMAIL
    message = EmailMultiAlternatives(
        subject=" ".join(text.subject.split()),
        body=plain,
        from_email=sender,
        to=[identity.decrypt(bytes(address.address))],
        headers={
            "Message-ID": f"<{mail.key.hex}@{parseaddr(sender)[1].rpartition('@')[2] or 'localhost'}>",
            # RFC 8058: mail programs show a button for it.
            "List-Unsubscribe": f"<{stop}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            # No holiday replies (RFC 3834).
            "Auto-Submitted": "auto-generated",
        },
        connection=connection,
    )
    message.attach_alternative(html, "text/html")
    return message


def write(mail: Mail) -> MailText:
    """Return the text of an email in the active language."""
    study = mail.participant.study
    work = str(mail.details.get("about", ""))
    about = activities.about_label(mail.participant, work)
    amount = mail.details.get("amount")
    values = {"study": study.title, "amount": format_amount(amount, study.currency) if amount else ""}
    subject, sentences = _WRITERS[Event(mail.event)](values)
    if about != work:  # a name that no activity knows says nothing to people
        sentences.append(_("Task: %(about)s") % {"about": about})
    return MailText(subject, sentences)


def _submitted(values: dict[str, str]) -> tuple[str, list[str]]:
    return _("We received your work"), [
        _("Thank you. We received your work in the study “%(study)s”.") % values,
        _("Your dashboard shows the decision as soon as there is one."),
    ]


def _accepted(values: dict[str, str]) -> tuple[str, list[str]]:
    sentences = [_("Good news: your work in the study “%(study)s” was accepted.") % values]
    if values["amount"]:
        sentences.append(_("You earn %(amount)s for it.") % values)
    return _("Your work was accepted"), sentences


def _rejected(values: dict[str, str]) -> tuple[str, list[str]]:
    return _("Your work was not accepted"), [
        _("Your work in the study “%(study)s” was not accepted.") % values,
        _("You can read the reason on your dashboard. If you do not agree, you can ask for another review there."),
    ]


def _revision(values: dict[str, str]) -> tuple[str, list[str]]:
    return _("Please revise your text"), [
        _("A reviewer read your text in the study “%(study)s” and asks you to revise it.") % values,
        _("You can read on your dashboard what to change."),
    ]


def _returned(values: dict[str, str]) -> tuple[str, list[str]]:
    return _("Your time for a task is over"), [
        _("You started a task in the study “%(study)s”. Your time for it is over, so someone else may get it.")
        % values,
        _("What you did is saved. Your dashboard shows whether you can continue or submit it."),
    ]


def _paid(values: dict[str, str]) -> tuple[str, list[str]]:
    return _("You were paid"), [
        _("We paid you %(amount)s for your work in the study “%(study)s”.") % values,
        _("It can take a few days until the money reaches you."),
    ]


def _answered(values: dict[str, str]) -> tuple[str, list[str]]:
    return _("Your question was answered"), [
        _("The researchers of the study “%(study)s” answered your message.") % values,
        _("You can read the answer on your dashboard."),
    ]


_WRITERS = {
    Event.SUBMITTED: _submitted,
    Event.ACCEPTED: _accepted,
    Event.REJECTED: _rejected,
    Event.REVISION: _revision,
    Event.RETURNED: _returned,
    Event.PAID: _paid,
    Event.ANSWERED: _answered,
}
