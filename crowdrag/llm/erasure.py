"""Erasing the texts of calls; the record of a call and its cost stays."""

import json
from collections.abc import Callable, Collection
from datetime import datetime

from django.db import models, transaction
from django.db.models.functions import Cast
from django.utils import timezone

from .models import Attempt, Call, CallQuerySet

# Up to this many texts, searching for each is faster than scanning a string character by character.
FEW_TEXTS = 20
CHUNK = 200


@transaction.atomic
def erase(*, calls: CallQuerySet, now: datetime | None = None) -> int:
    """Erase question and answer of calls, and the replies and errors of their attempts; return the number of calls.

    The digest stays and reveals nothing of the text. If somebody still has the same text and asks again, it is sent
    anew.
    """
    ids = list(calls.filter(erased_at__isnull=True).values_list("pk", flat=True))
    Attempt.objects.filter(call_id__in=ids).exclude(reply__isnull=True, error="").update(reply=None, error="")
    return Call.objects.filter(pk__in=ids).update(
        request=None, text=None, data=None, logprobs=None, refusal=None, error="", erased_at=now or timezone.now()
    )


def erase_containing(texts: Collection[str], *, now: datetime | None = None) -> int:
    """Erase all calls whose question, answer or error contains one of these texts; return their number.

    Reads every call once, however many texts there are, so it is too slow for pages.
    """
    if not texts:
        return 0
    contains = container_test(texts)
    # As the texts appear within JSON strings.
    contains_quoted = container_test({json.dumps(text, ensure_ascii=False)[1:-1] for text in texts})
    ids: set[int] = set()
    calls = Call.objects.filter(erased_at__isnull=True).values_list(
        "pk", Cast("request", models.TextField()), Cast("data", models.TextField()), "text", "refusal"
    )
    for pk, *columns in calls.iterator(CHUNK):
        is_quoted = any(contains_quoted(column) for column in columns[:2] if column)
        if is_quoted or any(contains(column) for column in columns[2:] if column):
            ids.add(pk)
    attempts = Attempt.objects.filter(call__erased_at__isnull=True).values_list("call", "reply", "error")
    for pk, *columns in attempts.iterator(CHUNK):
        if pk not in ids and any(contains(column) for column in columns if column):
            ids.add(pk)
    return erase(calls=Call.objects.filter(pk__in=ids), now=now)


def container_test(texts: Collection[str]) -> Callable[[str], bool]:
    """Return a function that tests whether a string contains one of the texts, in time linear in the string.

    Texts with the same beginning are compared one by one.
    """
    if len(texts) <= FEW_TEXTS:
        return lambda string: any(text in string for text in texts)
    size = min(map(len, texts))
    by_beginning: dict[str, list[str]] = {}
    for text in texts:
        by_beginning.setdefault(text[:size], []).append(text)

    def contains(string: str) -> bool:
        return any(
            string.startswith(text, start)
            for start in range(len(string) - size + 1)
            for text in by_beginning.get(string[start : start + size], ())
        )

    return contains
