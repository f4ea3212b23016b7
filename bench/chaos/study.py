"""The study of a chaos run: a campaign for judges, a plan for writers, a priced model, and files for experiments."""

from __future__ import annotations

import json
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

# Sizes for each minute of the run. Judges must run out of places before its end, and claim in vain.
QUESTIONNAIRES, TOPICS, UPLOADS = 9, 5, 2
K, RESPONSES, DIMENSIONS, LEASE_MINUTES = 3, 3, 3, 2
SEATS, WRITERS = 40, 6
#: Minor units for a million tokens, and for the study.
INPUT_PRICE, OUTPUT_PRICE, BUDGET = 1000, 2000, 1_000_000
MODEL = "chaos"


def create(*, minutes: float, model_url: str, writers: int) -> dict[str, Any]:
    """Create everything in the database that Django is set up for; return what the clients need to know."""
    from django.utils import timezone

    from crowdrag.llm.models import Endpoint
    from crowdrag.studies.enums import Role
    from tests.annotation import open_campaign
    from tests.factories import MembershipFactory, StudyFactory
    from tests.writing import open_plan

    now = timezone.now()
    study = StudyFactory(slug="chaos", is_simulated=True, llm_budget=BUDGET, text_licence="CC0-1.0")
    owner = MembershipFactory(study=study, role=Role.OWNER).user
    reviewer = MembershipFactory(study=study, role=Role.REVIEWER).user
    here = open_campaign.world(
        study=study, topics=round(QUESTIONNAIRES * minutes) + 10, responses=RESPONSES, per_questionnaire=3,
        dimensions=DIMENSIONS, k=K, minutes=5, lease_minutes=LEASE_MINUTES, questionnaires_per_person=None,
    )  # fmt: skip
    models = open_campaign.world(study=study, topics=4, responses=3, per_questionnaire=3, dimensions=2, k=1)
    plan = open_plan.world(
        study=study, topics=round(TOPICS * minutes) + writers, styles=1, slots=1, lease_hours=1, tasks_per_person=None
    )
    endpoint = Endpoint.objects.create(
        name=MODEL, base_url=model_url, model="m", is_local=True, is_allowed=True, concurrency=4, timeout=10,
        max_tokens=256, supports_json_schema=True, input_price=INPUT_PRICE, output_price=OUTPUT_PRICE,
    )  # fmt: skip
    people = here.judges(round(SEATS * max(minutes, 3)))
    return {
        "study": study.slug,
        "campaign": here.campaign.pk,
        "dimensions": [dimension.pk for dimension in here.dimensions],
        "models_campaign": models.campaign.pk,
        "endpoint": endpoint.name,
        "style": plan.styles[0].name,
        "model_topics": [topic.external_id for topic in models.topics],
        "judges": [_session(person) for person in people],
        "writers": [_session(plan.writer()) for _ in range(writers)],
        "tokens": {"researcher": _token(owner, now), "reviewer": _token(reviewer, now)},
        "uploads": _uploads(study, round(UPLOADS * minutes) + 3),
    }


def _session(person: Any) -> str:
    from django.test import Client

    from tests.participants import as_participant

    client = Client()
    as_participant(client, person)
    return str(client.session.session_key)


def _token(user: Any, now: Any) -> str:
    from crowdrag.accounts import tokens
    from crowdrag.accounts.enums import Scope

    _row, text = tokens.issue(
        by=user, name="chaos", scopes=list(Scope), studies=None, lasts=timedelta(days=300), now=now
    )
    return text


def _uploads(study: Any, count: int) -> list[int]:
    """Store files of four questions each, all different."""
    from analysis.rag.collections import passages_by_author
    from crowdrag.jobs import run_files
    from tests.analysis.rag.self_preference import planted

    made = []
    with tempfile.TemporaryDirectory(prefix="crowdrag-chaos-") as folder:
        for number in range(count):
            path = Path(folder, f"questions-{number}.jsonl")
            questions = [planted.question(4 * number + n) for n in range(4)]
            path.write_text("".join(json.dumps(row) + "\n" for row in passages_by_author.write(questions)))
            made.append(run_files.store_upload(study=study, source=path).pk)
    return made
