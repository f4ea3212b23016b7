"""Send due emails under a lease, with retries, until the mail server accepts them.

If a worker dies while sending, the next one sends the row. If the server had already accepted the email, it is sent
again with the same Message-ID, by which mail systems recognise the duplicate.
"""

import logging
import smtplib
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from django.core.mail import get_connection
from django.utils import timezone

from crowdrag.jobs.delivery_queue import Backoff, DeliveryQueue

from . import contents
from .enums import MailState
from .models import Mail, MailAddress

# The lease is longer than a try may take (settings.EMAIL_TIMEOUT, for each response of the server).
QUEUE: Final = DeliveryQueue(Mail, lease=timedelta(minutes=10), related=("participant__study",))
# Eight tries in about two days.
BACKOFF: Final = Backoff.exponential(timedelta(minutes=1), timedelta(hours=24), tries=8, factor=5)
# A worker sends for this long at most; the rest wakes one again.
PASS_SECONDS: Final = 60.0
# SMTP codes from here on are permanent failures (RFC 5321, 4.2.1).
PERMANENT: Final = 500
Clock = Callable[[], datetime]
log = logging.getLogger(__name__)


def deliver_due(*, clock: Clock = timezone.now, seconds: float = PASS_SECONDS) -> int:
    """Send due emails; return how many were sent."""
    end, sent = time.monotonic() + seconds, 0
    while time.monotonic() < end and (mail := QUEUE.claim(clock())) is not None:
        sent += deliver(mail, clock=clock)
    return sent


def deliver(mail: Mail, *, clock: Clock = timezone.now) -> bool:
    """Send one claimed email, and record the result; return whether it was sent."""
    # Read at this moment: after removing their address, a participant gets nothing more.
    address = MailAddress.objects.filter(participant=mail.participant_id).first()
    if address is None:
        QUEUE.settle(mail, state=MailState.DROPPED)
        return False
    try:
        contents.build(mail, address, connection=get_connection()).send()
    except (smtplib.SMTPException, OSError) as error:
        return _retry(mail, error, clock())
    except Exception as error:
        # Whatever the error is, the email is not lost, and the others are sent.
        log.exception("Email %s could not be sent", mail.key)
        return _retry(mail, error, clock())
    QUEUE.settle(mail, state=MailState.DONE, sent_at=clock(), problem="")
    return True


def _retry(mail: Mail, error: Exception, now: datetime) -> bool:
    code = _code(error)
    problem = f"{type(error).__name__} {code or ''}".strip()[:100]
    wait = None if code >= PERMANENT else BACKOFF.after(mail.tries)
    if wait is None:
        QUEUE.settle(mail, state=MailState.FAILED, problem=problem)
        log.warning("Email %s could not be sent: %s", mail.key, problem)
    else:
        QUEUE.settle(mail, state=MailState.WAITING, due_at=now + wait, problem=problem)
    return False


def _code(error: Exception) -> int:
    """Return the SMTP code for this email; 0 if there is none.

    If the server rejects us as a whole, for example for a wrong password, the operator must fix it: the email is
    retried.
    """
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return max((code for code, _words in error.recipients.values()), default=0)
    return error.smtp_code if isinstance(error, smtplib.SMTPDataError) else 0
