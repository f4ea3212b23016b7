"""Somebody withdraws and has all erased: nothing of their words or ids is anywhere, but for the tombstone."""

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

from crowdrag.studies.models import Participant
from crowdrag.studies.participants import withdrawal
from tests.analysis.erasure import whole_system_search
from tests.analysis.erasure.marked_study import NOW, STEM, furnished

pytestmark = pytest.mark.django_db(transaction=True)
LATER = NOW + timedelta(hours=1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    """All that is written into files lies here."""
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DATA_DIR = tmp_path
    cache.clear()
    return tmp_path


@pytest.mark.extended
def test_the_search_finds_everything_before_and_the_tombstone_alone_after(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    person = furnished()
    words = whole_system_search.Words(STEM)
    ids = whole_system_search.Words(
        person.external_id, bytes(person.identity).decode(), bytes(person.identity_hash).hex()
    )
    before, files_before = whole_system_search.in_database(words), whole_system_search.in_files(words, [folder])
    assert len(before) > 25, sorted(before)
    assert {
        "writing_logbatch",
        "analysis_unitresult",
        "llm_call",
        "studies_participantmessage",
        "studies_staffnote",
        "api_idempotentreply",
    } <= set(before)
    assert len(files_before) > 8, sorted(files_before)
    assert "analysis_snapshot" in whole_system_search.in_database(ids)

    withdrawal.erase(participant=person, now=LATER)

    assert whole_system_search.in_database(words) == {}
    assert whole_system_search.in_files(words, [folder]) == {}
    assert whole_system_search.in_files(ids, [folder]) == {}
    assert whole_system_search.in_broker(words) == whole_system_search.in_broker(ids) == {}
    assert whole_system_search.in_cache(words) == whole_system_search.in_cache(ids) == set()
    assert words.said_in(caplog.text.encode()) == set()
    assert ids.said_in(caplog.text.encode()) == set()
    # The tombstone: a pseudonym with two dates, and nobody behind it.
    assert whole_system_search.in_database(ids) == {"studies_participant": {person.external_id.lower()}}
    tombstone = Participant.objects.get(pk=person.pk)
    assert (tombstone.withdrawn_at, tombstone.erased_at) == (LATER, LATER)
    assert (tombstone.identity, tombstone.platform_facts, tombstone.specification) == (None, {}, {})
