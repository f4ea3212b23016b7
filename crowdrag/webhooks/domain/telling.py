"""What each event says: names and states of a researcher's things, and where the API tells the rest.

Messages are thin on purpose: whoever reads one asks the API, with a token, for what it may know. Nothing that a
participant gave leaves the system in a message.
"""

from datetime import datetime

from crowdrag.runs.models import Run
from crowdrag.studies.models import Study

from ..enums import Event
from ..models import Message
from . import outbox


def run_ended(run: Run, at: datetime) -> Message | None:
    """Tell that a run is done, failed or cancelled."""
    data = {"run": run.key, "kind": run.kind, "state": run.state}
    return outbox.tell(study=run.study, event=Event.RUN_ENDED, data=data, now=at)


def campaign_ended(*, study: Study, kind: str, name: str, campaign: int | None, now: datetime) -> Message | None:
    """Tell that a campaign is closed: of judgments, with its number; or of writing, of which a study has one."""
    data = {"campaign": campaign, "kind": kind, "name": name}
    return outbox.tell(study=study, event=Event.CAMPAIGN_ENDED, data=data, now=now)


def release_published(*, study: Study, version: int, address: str, now: datetime) -> Message | None:
    """Tell that a release is published, and the address of its public page."""
    data = {"version": version, "address": address}
    return outbox.tell(study=study, event=Event.RELEASE_PUBLISHED, data=data, now=now)
