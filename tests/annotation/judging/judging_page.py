"""A judge's questionnaire and the calls that its page sends, for tests."""

import json
from typing import Any
from uuid import uuid4

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.judging import claims
from tests.annotation.judge_actions import add_check
from tests.annotation.open_campaign import World, world
from tests.annotation.shared import client_of


class JudgingPage:
    """Somebody's questionnaire with the addresses that its page sends to."""

    def __init__(self, **fields: Any):
        self.world: World = world(**fields)
        self.check = add_check(self.world.questionnaires[0])
        self.judge = self.world.judge()
        self.mine = claims.claim(campaign=self.world.campaign, participant=self.judge, now=timezone.now())
        self.questions = list(self.world.questions(self.mine))
        self.client = self.fresh()

    def fresh(self) -> Client:
        return client_of(self.judge)

    def address(self, name: str) -> str:
        study = self.world.study.slug
        return reverse(f"judging_{name}", args=[study, self.world.campaign.pk, self.mine.external_id])

    def post(self, name: str, body: Any, client: Client | None = None) -> Any:
        sent = body if isinstance(body, str) else json.dumps(body)
        return (client or self.client).post(self.address(name), sent, content_type="application/json")

    def answer(self, **fields: Any) -> dict[str, Any]:
        item, dimension = self.questions[0]
        return {"item": item.pk, "dimension": dimension.pk, "value": 1, "revision": 1, **fields}

    def attend(self, **fields: Any) -> dict[str, Any]:
        return {"check": self.check.pk, "value": 1, "revision": 1, **fields}

    def times(self, **fields: Any) -> dict[str, Any]:
        item, _dimension = self.questions[0]
        numbers = {"active": 0.5, "away": 0.2, "looks": 2, "leaves": 1, "changes": 3}
        return {"visit": str(uuid4()), "times": [{"item": item.pk, **numbers}], **fields}
