"""Claiming questionnaires: rate against the bare SQL claim, and the time of a claim in a small and in a large campaign.

The large one has a million free places and 100,000 participants.

Separate database and broker; all claims run at once on this machine's cores.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bench._system import system

if TYPE_CHECKING:
    from tests.annotation.open_campaign import World

ROUNDS, CLAIMS, SLOTS, CONNECTIONS = 3, 10_000, 1000, 100
FEW, MANY, PARTICIPANTS, K, TIMED, LIMIT = 10, 1_000_000, 100_000, 5, 300, 0.010
# Participants are made so many at a time.
BATCH = 10_000


def run() -> Iterator[dict]:
    """Measure once in a separate folder."""
    with system():
        yield _rate()
        yield from _flat()


def _rate() -> dict:
    from tests.annotation.judge_actions import sheets
    from tests.annotation.judging import concurrent_claims

    here = sheets(SLOTS // K, k=K)
    people = here.judges(CLAIMS)
    rates = []
    for _ in range(ROUNDS):
        found = []
        for how in (concurrent_claims.claim, concurrent_claims.claim_bare):
            concurrent_claims.free_all(here)
            answers, seconds = concurrent_claims.flood(here, people, CONNECTIONS, how)
            assert answers["got one"] == SLOTS, answers
            assert concurrent_claims.facts(here) == {"free": 0, "held": SLOTS, "twice": 0}, concurrent_claims.facts(
                here
            )
            found.append(CLAIMS / seconds)
        rates.append((found[0], found[1]))
    return {
        "name": "claims, over the bare SQL that takes a free place and writes the assignment",
        "ratio": statistics.median(ours / bare for ours, bare in rates),
        "target": 0.5,
        "detail": ", ".join(f"{ours:.0f}/{bare:.0f}" for ours, bare in rates)
        + f" a second in turn, {CLAIMS} claims on {SLOTS} places, {CONNECTIONS} connections, "
        f"load average {os.getloadavg()[0]:.1f}",
    }


def _flat() -> Iterator[dict]:
    """Time a claim with few and with many free places and participants, alternately."""
    from django.db import connection

    from tests.annotation.judge_actions import sheets
    from tests.annotation.judging.concurrent_claims import grow

    few, many = sheets(FEW // K, k=K), sheets(FEW // K, k=K)
    grow(many, MANY // K)
    seconds: dict[int, list[float]] = {few.campaign.pk: [], many.campaign.pk: []}
    crowd = [person for _ in range(PARTICIPANTS // BATCH) for person in many.judges(BATCH)]
    people = {few.campaign.pk: iter(few.judges(TIMED)), many.campaign.pk: iter(crowd[:: PARTICIPANTS // TIMED])}
    with connection.cursor() as cursor:
        # As after the first minutes of a campaign, by autovacuum.
        cursor.execute("ANALYZE")
    for _ in range(TIMED):
        for here in (few, many):
            seconds[here.campaign.pk].append(_one(here, next(people[here.campaign.pk])))
    medians = [statistics.median(times) for times in seconds.values()]
    p95 = statistics.quantiles(seconds[many.campaign.pk], n=20)[-1]
    yield {
        "name": f"a claim with {MANY:,} free places and {PARTICIPANTS:,} participants: {LIMIT * 1000:.0f} ms over p95",
        "ratio": LIMIT / p95,
        "target": 1,
        "detail": f"median {medians[1] * 1000:.2f} ms, p95 {p95 * 1000:.2f} ms, longest "
        f"{max(seconds[many.campaign.pk]) * 1000:.1f} ms of {TIMED} claims, load average {os.getloadavg()[0]:.1f}",
    }
    yield {
        "name": f"time of a claim: twice that with {FEW} free places, over that with {MANY:,}",
        "ratio": 2 * medians[0] / medians[1],
        "target": 1,
        "detail": f"median {medians[0] * 1000:.2f} and {medians[1] * 1000:.2f} ms of {TIMED} claims each in turn, "
        f"load average {os.getloadavg()[0]:.1f}",
    }
    yield _drawn(many, crowd[1 :: PARTICIPANTS // TIMED])


def _drawn(here: World, people: list[object]) -> dict:
    """Time a claim that draws its place by a policy, and the layout of all places."""
    import numpy as np
    from django.db import connection

    from annotation.enums import AssignmentPolicy
    from annotation.policies import services
    from tests.factories import NOW

    here.change(policy=AssignmentPolicy.INFORMATION)
    began = time.perf_counter()
    services.refresh(campaign=here.campaign, now=NOW, rng=np.random.default_rng(0))
    layout = time.perf_counter() - began
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE annotation_slot")
    seconds = [_one(here, person) for person in people[:TIMED]]
    p95 = statistics.quantiles(seconds, n=20)[-1]
    return {
        "name": f"a claim that draws one of {MANY:,} free places by a policy: {LIMIT * 1000:.0f} ms over p95",
        "ratio": LIMIT / p95,
        "target": 1,
        "detail": f"median {statistics.median(seconds) * 1000:.2f} ms, p95 {p95 * 1000:.2f} ms, longest "
        f"{max(seconds) * 1000:.1f} ms of {len(seconds)} claims; all places laid out in {layout:.0f} s, "
        f"load average {os.getloadavg()[0]:.1f}",
    }


def _one(here: World, person: object) -> float:
    """Claim a place, then give it back, so that the number of free places stays the same."""
    from annotation.judging import claims, leases
    from tests.factories import NOW

    began = time.perf_counter()
    mine = claims.claim(campaign=here.campaign, participant=person, now=NOW)
    seconds = time.perf_counter() - began
    leases.give_back(assignment=mine, now=NOW)
    return seconds
