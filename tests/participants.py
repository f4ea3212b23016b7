"""Taking part, in tests."""

from django.test import Client

from crowdrag.studies.access import SESSION_PARTICIPANTS
from crowdrag.studies.models import Participant


def as_participant(client: Client, participant: Participant) -> None:
    """Put a participant into the client's session, as their link does."""
    session = client.session
    session[SESSION_PARTICIPANTS] = {**session.get(SESSION_PARTICIPANTS, {}), str(participant.study_id): participant.pk}
    session.save()
