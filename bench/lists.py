"""Lists of the API and of pages, of a study with a million judgments: a page at a time, first and far down.

Separate database and broker, gunicorn as in `crowdrag up`, one request at a time. Environment variables:
CROWDRAG_BENCH_JUDGMENTS, the number of judgments (1,000,000); CROWDRAG_BENCH_OTHERS, the number of all other rows
(1,000); CROWDRAG_BENCH_REQUESTS, the requests per list (40).
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bench._system import system, web
from crowdrag.runtime.data_folder import DataFolder

if TYPE_CHECKING:
    from crowdrag.studies.models import Study, User
    from tests.writing.editor.served_editor import Server

JUDGMENTS = int(os.environ.get("CROWDRAG_BENCH_JUDGMENTS", "1000000"))
REQUESTS = int(os.environ.get("CROWDRAG_BENCH_REQUESTS", "40"))
LIMIT, PATIENCE = 0.100, 20.0
# As in the paper: 15 pairs with seven questions each, but ten judges per pair. OTHERS rows of everything else.
ITEMS, QUESTIONS, PEOPLE = 15, 7, 10
OTHERS = int(os.environ.get("CROWDRAG_BENCH_OTHERS", "1000"))
#: A study has only a few styles: each is a row of progress and an option of every filter. PAGES are the URL names of
#: pages that grow with the number of judgments.
FEW = {"api_plan_styles": 20}
PAGES = ("study", "topics", "campaigns", "campaign", "review_queue", "writing_progress", "runs")
_JUDGMENTS = """
    INSERT INTO annotation_judgment
        (assignment_id, item_id, dimension_id, value, repeat, justification, judged_at, revision, external_id)
    SELECT a.id, e.item_id, d.id, (a.id + e.item_id + d.id) %% 3 - 1, 0, 'Why, in some words.', now(), 1, ''
    FROM annotation_assignment a
    JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
    JOIN annotation_questionnaireitem e ON e.questionnaire_id = q.id
    JOIN annotation_campaigndimension d0 ON d0.campaign_id = q.campaign_id
    JOIN annotation_dimension d ON d.id = d0.dimension_id
    WHERE q.campaign_id = %s
"""

_SUM = """
    UPDATE annotation_assignment a SET is_included = a.is_included
    FROM annotation_questionnaire q WHERE q.id = a.questionnaire_id AND q.campaign_id = %s
"""


def run() -> Iterator[dict]:
    """Measure once in a separate folder."""
    with system(CROWDRAG_API_PER_MINUTE="0") as folder:
        yield from _measured(folder)


def _measured(folder: DataFolder) -> Iterator[dict]:
    from django.db import connection

    began = time.perf_counter()
    addresses, user = _study()
    made = time.perf_counter() - began
    with web(folder) as server:
        headers = _headers(user, server)
        connection.close()
        for name, address in sorted(addresses.items()):
            yield _row(name, *_asked(server, address, headers), made)


def _row(name: str, seconds: list[float], rows: int, made: float) -> dict[str, Any]:
    p95 = statistics.quantiles(seconds, n=20)[-1]
    return {
        "name": f"{name}: {LIMIT * 1000:.0f} ms over p95",
        "ratio": LIMIT / p95,
        "target": 1,
        "detail": f"p50 {statistics.median(seconds) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms, longest "
        f"{max(seconds) * 1000:.0f} ms of {len(seconds)}; {rows} rows a page; {JUDGMENTS} judgments made in "
        f"{made:.0f} s; load average {os.getloadavg()[0]:.1f}",
    }


def _asked(server: Server, address: str, headers: dict[str, str]) -> tuple[list[float], int]:
    """Request a list repeatedly, following its pages. Return the durations and the number of rows on the first page."""
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    seconds, rows, following = [], 0, address
    for n in range(REQUESTS + 3):
        began = time.perf_counter()
        line.request("GET", following, headers=headers)
        try:
            answer = line.getresponse()
        except TimeoutError:
            return [PATIENCE, PATIENCE], rows
        body = answer.read()
        took = time.perf_counter() - began
        assert answer.status == 200, (address, answer.status, body[:300])
        if n >= 3:  # by then, each process has compiled everything
            seconds.append(took)
        if address.startswith("/api/"):
            page = json.loads(body)
            rows = rows or len(page["results"])
            told = urlsplit(page["next"] or address)
            following = f"{told.path}?{told.query}"
    line.close()
    return seconds, rows


def _study() -> tuple[dict[str, str], User]:
    """Create a study with many judgments and other rows. Return the URLs of its lists, and its owner."""
    from django.urls import reverse

    from analysis.tables.run_tables import ANALYSIS
    from crowdrag.jobs.enums import RunState
    from crowdrag.jobs.models import Run
    from crowdrag.studies.enums import Role
    from tests.api.rows import ROWS
    from tests.factories import MembershipFactory, StudyFactory

    study = StudyFactory(slug="million")
    user = MembershipFactory(study=study, role=Role.OWNER).user
    found = {"api_studies": reverse("api_studies")}
    for name, make in ROWS.items():
        more = make(study, FEW.get(name, OTHERS))
        found[name] = reverse(name, kwargs={"study": study.slug, **more})
    # The made-up runs have no results for the overview to show.
    Run.objects.filter(study=study, kind=ANALYSIS, snapshot=None).update(state=RunState.CANCELLED)
    campaign = _judgments(study)
    found["api_assignments"] = reverse("api_assignments", kwargs={"study": study.slug, "campaign": campaign})
    for name, given in _filters(campaign).items():
        found[f"api_judgments, {name}"] = f"{found['api_judgments']}?{given}"
    for name in PAGES:
        named = {"campaign_id": campaign} if name == "campaign" else {}
        found[f"page {name}"] = reverse(name, kwargs={"slug": study.slug, **named})
    return found, user


def _filters(campaign: int) -> dict[str, str]:
    """Filters for the list of judgments that match nearly all, few, or none."""
    return {
        "of the campaign": f"campaign={campaign}",
        "of one question": "dimension=question-0",
        "of one person": "participant=judge-5",
        "of one question that nobody asked": "dimension=none",
        "of one topic": "topic=no-such-topic",
        "of models": "judges=MODEL",
        "that count": "counted=true",
        "that do not": "counted=false",
        "as many as may be": "limit=200",
    }


def _judgments(study: Study) -> int:
    """Create a campaign with this number of submitted judgments; return its key."""
    from django.db import connection, transaction

    from annotation.enums import AssignmentState
    from annotation.models import Assignment, Item, Pair, Questionnaire, QuestionnaireItem
    from crowdrag.studies.enums import ParticipantKind
    from crowdrag.studies.models import Participant
    from tests.factories import NOW, CampaignDimensionFactory, CampaignFactory, DimensionFactory
    from writing.models import Response

    campaign = CampaignFactory(study=study)
    for n in range(QUESTIONS):
        CampaignDimensionFactory(campaign=campaign, dimension=DimensionFactory(study=study, name=f"question-{n}"))
    lists = -(-JUDGMENTS // (ITEMS * QUESTIONS * PEOPLE))
    taken = set(Pair.objects.filter(study=study).values_list("a", "b"))
    texts = list(Response.objects.filter(study=study).order_by("topic", "pk")[:1000])
    near = [(a, b) for place, a in enumerate(texts) for b in texts[place + 1 : place + 40] if a.topic_id == b.topic_id]
    free = [(a, b) for a, b in near if (a.pk, b.pk) not in taken][: lists * ITEMS]
    pairs = Pair.objects.bulk_create(Pair(study=study, a=a, b=b) for a, b in free)
    items = Item.objects.bulk_create(Item(campaign=campaign, pair=pair, topic_id=pair.a.topic_id) for pair in pairs)
    given = Questionnaire.objects.bulk_create(
        Questionnaire(campaign=campaign, external_id=f"q{n}", created_at=NOW, position=n) for n in range(lists)
    )
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=one, item=items[(n * ITEMS + place) % len(items)], position=place)
        for n, one in enumerate(given)
        for place in range(ITEMS)
    )
    people = Participant.objects.bulk_create(
        Participant(study=study, external_id=f"judge-{n}", kind=ParticipantKind.CROWD, created_at=NOW)
        for n in range(lists * 2)
    )
    Assignment.objects.bulk_create(
        Assignment(
            questionnaire=one, participant=people[(n * 7 + place) % len(people)], external_id=f"a{n}-{place}",
            state=AssignmentState.ACCEPTED if n % 10 else AssignmentState.SUBMITTED, submitted_at=NOW, seconds=600.0,
        )
        for n, one in enumerate(given)
        for place in range(PEOPLE)
    )  # fmt: skip
    with transaction.atomic(), connection.cursor() as cursor:
        # The inserted rows satisfy the triggers by construction; checking each would take most of the time.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_JUDGMENTS, [campaign.pk])
        cursor.execute("SET LOCAL session_replication_role = origin")
        # Its trigger sums the judgments of each assignment.
        cursor.execute(_SUM, [campaign.pk])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return int(campaign.pk)


def _headers(user: User, server: Server) -> dict[str, str]:
    """Return headers with a script's token for the API and a browser's session for pages."""
    from django.test import Client

    from tests.api.conftest import by_token

    client = Client()
    client.force_login(user)
    cookies = server.cookies(client.cookies[server.env["SESSION_COOKIE_NAME"]].value)
    return {"Authorization": by_token(user)._credentials["HTTP_AUTHORIZATION"], "Cookie": cookies, "Host": "localhost"}
