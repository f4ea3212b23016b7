"""Erasing the texts of calls; that a call was made, and what it cost, stays."""

import json
from collections.abc import Callable, Collection
from datetime import datetime

from django.db import models, transaction
from django.db.models.functions import Cast
from django.utils import timezone

from .models import Attempt, Call, CallQuerySet

# Looking for so many texts one after the other is faster than going through a string letter by letter.
_FEW = 20
_CHUNK = 200


@transaction.atomic
def erase(*, calls: CallQuerySet, now: datetime | None = None) -> int:
    """Erase question and answer of calls, and what their attempts kept of them; return how many calls it were.

    The digest stays and says nothing of the text. Whoever still holds the same text and asks again is answered anew.
    """
    now = now or timezone.now()
    ids = list(calls.filter(erased_at__isnull=True).values_list("pk", flat=True))
    Attempt.objects.filter(call_id__in=ids).exclude(reply__isnull=True, error="").update(reply=None, error="")
    return Call.objects.filter(pk__in=ids).update(
        request=None, text=None, data=None, logprobs=None, refusal=None, error="", erased_at=now
    )


def erase_containing(texts: Collection[str], *, now: datetime | None = None) -> int:
    """Erase all calls whose question, answer or error contains one of these texts; return how many it were.

    Reads every call once, however many texts there are, so it is not for pages.
    """
    if not texts:
        return 0
    contains, contains_quoted = container_test(texts), container_test({_quoted(text) for text in texts})
    call_ids: set[int] = set()
    calls = Call.objects.filter(erased_at__isnull=True).annotate(
        request_text=Cast("request", models.TextField()), data_text=Cast("data", models.TextField())
    )
    for pk, *columns in calls.values_list("pk", "request_text", "data_text", "text", "refusal").iterator(_CHUNK):
        is_quoted = any(contains_quoted(column) for column in columns[:2] if column)
        if is_quoted or any(contains(column) for column in columns[2:] if column):
            call_ids.add(pk)
    attempts = Attempt.objects.filter(call__erased_at__isnull=True).values_list("call", "reply", "error")
    for pk, *columns in attempts.iterator(_CHUNK):
        if pk not in call_ids and any(contains(column) for column in columns if column):
            call_ids.add(pk)
    return erase(calls=Call.objects.filter(pk__in=call_ids), now=now)


def container_test(texts: Collection[str]) -> Callable[[str], bool]:
    """Return a function that says whether a string contains one of the texts, in time linear in the string.

    Texts that all begin alike are told apart one by one.
    """
    if len(texts) <= _FEW:
        return lambda string: any(text in string for text in texts)
    size = min(map(len, texts))
    by_beginning: dict[str, list[str]] = {}
    for text in texts:
        by_beginning.setdefault(text[:size], []).append(text)

    def contains(string: str) -> bool:
        beginnings = (by_beginning.get(string[at : at + size], ()) for at in range(len(string) - size + 1))
        candidates = enumerate(beginnings)
        return any(string.startswith(text, at) for at, text_candidates in candidates for text in text_candidates)

    return contains


def _quoted(text: str) -> str:
    """A text as it stands within a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]
