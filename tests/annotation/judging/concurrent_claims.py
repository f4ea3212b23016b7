"""Many people who claim at the same time, and the same with nothing but SQL, for tests and measurements."""

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from django.db import connection, transaction

from annotation.judging import claims, slots
from annotation.models import Assignment, Slot
from crowdrag.assignments.problems import NothingLeft
from crowdrag.studies.models import Participant
from tests.annotation.open_campaign import World
from tests.factories import NOW

# A claim and nothing else: whoever comes gets the next free place, with an assignment to stand in it.
_PLACE = """
    SELECT id, questionnaire_id FROM annotation_slot WHERE campaign_id = %s AND holder_id IS NULL
    ORDER BY rank, id LIMIT 1 FOR UPDATE SKIP LOCKED
"""
_ASSIGNMENT = """
    INSERT INTO annotation_assignment (questionnaire_id, participant_id, external_id, state, is_included, assigned_at,
        lease_until, comment, session)
    VALUES (%s, %s, md5(random()::text), 'ASSIGNED', true, %s, %s, '', '') RETURNING id
"""

_GROW = """
    WITH made AS (
        INSERT INTO annotation_questionnaire (campaign_id, external_id, created_at, position)
        SELECT campaign_id, 'more-' || n, created_at, n FROM annotation_questionnaire,
            generate_series(1000, 1000 + %(more)s - 1) AS n WHERE id = %(questionnaire)s RETURNING id, position
    ), item AS (
        INSERT INTO annotation_item (campaign_id, topic_id, external_id)
        SELECT campaign_id, topic_id, 'more-' || n FROM annotation_item,
            generate_series(1000, 1000 + %(more)s - 1) AS n WHERE id = %(item)s RETURNING id, external_id
    )
    INSERT INTO annotation_questionnaireitem (questionnaire_id, item_id, position, has_known_label)
    SELECT made.id, item.id, 0, false FROM made JOIN item ON item.external_id = 'more-' || made.position
"""


class DiedError(Exception):
    """Whoever claimed is gone before the transaction commits."""


def claim_bare(here: World, person: Participant) -> str:
    """Claim by SQL alone."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_PLACE, [here.campaign.pk])
        if (found := cursor.fetchone()) is None:
            return "none left"
        cursor.execute(_ASSIGNMENT, [found[1], person.pk, NOW, NOW])
        cursor.execute("UPDATE annotation_slot SET holder_id = %s WHERE id = %s", [cursor.fetchone()[0], found[0]])
    return "got one"


def claim(here: World, person: Participant) -> str:
    """Claim as people do."""
    try:
        claims.claim(campaign=here.campaign, participant=person, now=NOW)
    except NothingLeft:
        return "none left"
    return "got one"


def claim_or_die(rng: Random, share: float = 0.02) -> Callable[[World, Participant], str]:
    """Claim as people do whose connection breaks now and then, before the commit."""

    def dying(here: World, person: Participant) -> str:
        try:
            with transaction.atomic():
                said = claim(here, person)
                if rng.random() < share:
                    raise DiedError  # noqa: TRY301 -- inside of the transaction is the point
        except DiedError:
            return "died"
        return said

    return dying


def flood(
    here: World, people: list[Participant], connections: int, how: Callable[[World, Participant], str] = claim
) -> tuple[Counter[str], float]:
    """Let people claim through so many connections; return what they were told, and the seconds that it took.

    Who died comes again.
    """
    waiting: queue.SimpleQueue[Participant] = queue.SimpleQueue()
    for person in people:
        waiting.put(person)
    answers: Counter[str] = Counter()
    lock = threading.Lock()
    ready = threading.Barrier(connections + 1)
    errors: list[Exception] = []

    def worker() -> None:
        try:
            connection.ensure_connection()
            ready.wait()
            while True:
                try:
                    person = waiting.get_nowait()
                except queue.Empty:
                    return
                said = how(here, person)
                if said == "died":
                    waiting.put(person)
                with lock:
                    answers[said] += 1
        except Exception as error:  # noqa: BLE001 -- raised below, in the test's own thread
            errors.append(error)
            ready.abort()
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(connections)]
    for thread in threads:
        thread.start()
    ready.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    if errors:
        raise errors[0]
    return answers, seconds


def free_all(here: World) -> None:
    """Make the campaign as it was before anybody claimed."""
    with transaction.atomic():
        Slot.objects.filter(campaign=here.campaign).update(holder=None)
        Assignment.objects.filter(questionnaire__campaign=here.campaign).delete()


def facts(here: World) -> dict[str, Any]:
    """Return what can be wrong after a flood: places free, held, and people who hold more than one."""
    holders = list(Slot.objects.filter(campaign=here.campaign).values_list("holder__participant", flat=True))
    taken = [one for one in holders if one is not None]
    return {"free": len(holders) - len(taken), "held": len(taken), "twice": len(taken) - len(set(taken))}


@transaction.atomic
def grow(here: World, count: int) -> None:
    """Add questionnaires, each with an item of its own, until there are so many; and their places."""
    first, more = here.questionnaires[0], count - len(here.questionnaires)
    arguments = {"more": more, "questionnaire": first.pk, "item": first.entries.get().item_id}
    with connection.cursor() as cursor:
        # The rows are right, and there are many: no trigger and no foreign key looks at each.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_GROW, arguments)
        slots.ensure(campaign=here.campaign, now=NOW)
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute("ANALYZE")
