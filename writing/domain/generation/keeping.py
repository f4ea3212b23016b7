"""Storing what models answered, and the responses that come of it: each once, however often the work is repeated."""

from datetime import datetime
from uuid import UUID, uuid5

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant

from ...models import ModelAnswer, Response
from .. import responses
from .outcomes import Outcome
from .slots import Slot

# External ids of responses follow from who wrote what, so that work which is repeated writes nothing twice.
NAMESPACE = UUID("5f9ab41c-6d0c-5d0b-8a55-6a0d1f6b9a11")


def keep(
    *, run: Run, slot: Slot, participant: Participant, outcome: Outcome, accept_overlong: bool, now: datetime
) -> ModelAnswer:
    """Store an answer and, if it is one, the response. Called in a transaction."""
    response = None
    if outcome.is_response(accept_overlong=accept_overlong):
        response = _response(run=run, slot=slot, participant=participant, text=outcome.text, now=now)
    answer, _made = ModelAnswer.objects.get_or_create(
        run=run,
        topic=slot.topic,
        style=slot.style,
        defaults={
            "participant": participant,
            "outcome": outcome.outcome,
            "text": outcome.text,
            "words": outcome.words,
            "response": response,
            "answered_at": now,
        },
    )
    return answer


def _response(*, run: Run, slot: Slot, participant: Participant, text: str, now: datetime) -> Response:
    """Store a response; the same writer's on the same slot is stored once, whichever run asked."""
    name = f"{run.study.slug}/{participant.external_id}/{slot.topic.external_id}/{slot.style.name}"
    external_id = str(uuid5(NAMESPACE, name))
    if known := Response.objects.filter(study=run.study, external_id=external_id).first():
        return known
    return responses.submit(
        study=run.study,
        external_id=external_id,
        topic=slot.topic,
        style=slot.style,
        participant=participant,
        text=text,
        now=now,
    )
