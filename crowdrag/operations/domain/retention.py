"""What is kept no longer than said: what each rule would remove, and its removal, which is noted."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.contrib.sessions.models import Session
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Count, Max, Min, Q
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from crowdrag.audit.domain import looking, signing_in
from crowdrag.audit.models import SignInFailure
from crowdrag.runs.enums import ACTIVE
from crowdrag.runs.models import Upload
from crowdrag.studies.models import Participant, Study, User
from crowdrag.webhooks.domain import tidying
from crowdrag.webhooks.models import Message

from ..models import Machine, Removal

LOOKS_KEPT: Final = timedelta(days=3 * 365)
MACHINES_KEPT: Final = timedelta(days=30)
UPLOADS_KEPT: Final = timedelta(days=365)
REMOVALS_SHOWN: Final = 20


class UnknownRuleError(LookupError):
    """There is no such rule."""


@dataclass(frozen=True)
class Rule:
    """What is removed: rows that have been kept as long as they are; `when` is the field that says since when."""

    name: str
    title: str | Promise
    says: str | Promise
    rows: Callable[[datetime], Any]
    when: str
    # The field that names a file in the storage, which goes too.
    file: str = ""


@dataclass(frozen=True)
class Found:
    """What a rule would remove at a moment."""

    rule: Rule
    rows: int
    oldest: datetime | None


RULES: Final = (
    Rule(
        "sessions",
        _("Sessions that are over"),
        _("Nobody is signed in by them any more."),
        lambda now: Session.objects.filter(expire_date__lt=now),
        "expire_date",
    ),
    Rule(
        "failures",
        _("Sign-ins that failed"),
        _("Kept for 90 days; the sweep removes them every day by itself."),
        lambda now: SignInFailure.objects.filter(at__lt=now - signing_in.KEPT),
        "at",
    ),
    Rule(
        "looks",
        _("The audit trail"),
        _("Kept for three years. In the first one the database lets nobody delete anything of it."),
        lambda now: looking.expired(now=now, keep=LOOKS_KEPT),
        "at",
    ),
    Rule(
        "machines",
        _("Machines that are gone"),
        _("Not heard of for 30 days."),
        lambda now: Machine.objects.filter(at__lt=now - MACHINES_KEPT),
        "at",
    ),
    Rule(
        "uploads",
        _("Files that were handed in"),
        _("Kept for a year; longer while a run of their study is at work."),
        lambda now: Upload.objects.filter(uploaded_at__lt=now - UPLOADS_KEPT).exclude(study__runs__state__in=ACTIVE),
        "uploaded_at",
        file="file",
    ),
    Rule(
        "messages",
        _("Messages of webhooks"),
        _("Kept for 30 days, with how they were delivered; the sweep removes them by itself."),
        lambda now: Message.objects.filter(created_at__lt=now - tidying.KEPT),
        "created_at",
    ),
)


def look(*, now: datetime) -> list[Found]:
    """Return what each rule would remove now; nothing is removed."""
    found = []
    for rule in RULES:
        rows = rule.rows(now)
        found.append(Found(rule, rows.count(), rows.aggregate(oldest=Min(rule.when))["oldest"]))
    return found


@transaction.atomic
def remove(*, name: str, until: datetime, by: User, now: datetime) -> Removal:
    """Remove what a rule would have removed at the moment `until` that somebody looked at it, and note it.

    Raises
    ------
    UnknownRuleError
        for a name that there is not.
    """
    rule = next((rule for rule in RULES if rule.name == name), None)
    if rule is None:
        raise UnknownRuleError(name)
    rows = rule.rows(min(until, now))
    if rule.file:
        # Those rows and no others: a file that is still listed must still be there.
        chosen = dict(rows.values_list("pk", rule.file))
        rows = rows.model.objects.filter(pk__in=chosen)
        for name in chosen.values():
            transaction.on_commit(partial(default_storage.delete, str(name)))
    _total, by_table = rows.delete()
    return Removal.objects.create(at=now, by=by, rule=rule.name, rows=by_table)


def removals() -> list[Removal]:
    """Return what was removed last."""
    return list(Removal.objects.select_related("by").order_by("-at", "-id")[:REMOVALS_SHOWN])


def promises() -> list[dict[str, Any]]:
    """Return what each study with people promised them, how many they are, and when the last of them came."""
    given = Participant.objects.of_kind("CROWD", "EXPERT").filter(study__isnull=False).order_by()
    counted = given.values("study").annotate(
        people=Count("pk", filter=Q(erased_at__isnull=True)),
        withdrawn=Count("pk", filter=Q(withdrawn_at__isnull=False, erased_at__isnull=True)),
        erased=Count("pk", filter=Q(erased_at__isnull=False)),
        latest=Max("created_at"),
    )
    rows = {row["study"]: row for row in counted}
    studies = Study.objects.filter(pk__in=rows).order_by("slug")
    return [{**rows[study.pk], "study": study} for study in studies]
