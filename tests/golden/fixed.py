"""A world whose studies have the same outputs on each machine and in each run: ids, clocks and versions are set.

Whatever must not show in golden files is dealt with here, or in `normalised` where it cannot be set beforehand.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from django.db import connection, models
from django.db.models.functions import Now
from django.test import override_settings

from annotation.models import Assignment
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Study
from tests import database_reset
from tests.factories import NOW
from writing.models import Response, WritingTask

VERSION = "0.0.0"
CODE = f"{VERSION}+golden"
ENVIRONMENT = {"python": "3", "platform": "golden", "packages": {"numpy": "2"}}
#: What has an id of chance: its rows are numbered in the order in which they were made.
NUMBERED: dict[str, type[models.Model]] = {
    "participant": Participant,
    "task": WritingTask,
    "response": Response,
    "assignment": Assignment,
}
OF_CHANCE = r"^[0-9a-f]{32}$"

#: What is replaced in outputs, and why it cannot be compared. Keys of runs are replaced, too, by their places.
REPLACED = [
    (re.compile(r"\b[0-9a-f]{64}\b"), "<sha256>"),  # digests follow from the rest, down to the last digit of numbers
    (re.compile(r"\b[0-9a-f]{12}(?= · seed)"), "<digest>"),  # the beginning of a digest, at the foot of a page
    (re.compile(r"\b[\d.,]+[ \u00a0]([kMGKi]*B|bytes)\b"), "<size>"),  # of files that are compressed
]
#: Fields that hold such a size.
SIZES = {"bytes", "content_bytes", "contentSize"}


@contextmanager
def world(folder: Path) -> Iterator[None]:
    """Run the block in an empty database, with a fixed clock, version and environment; empty the database after it."""
    name = connection.settings_dict["NAME"]
    assert str(name).startswith("test_"), f"{name} is no database of tests: it is not emptied"
    with ExitStack() as stack:
        stack.enter_context(
            override_settings(
                DATA_DIR=folder, MEDIA_ROOT=folder / "files", LLM_URL="", PSEUDONYM_KEY="golden", VERSION=VERSION
            )
        )
        stack.enter_context(mock.patch("django.utils.timezone.now", return_value=NOW))
        stack.enter_context(mock.patch.object(Now, "as_postgresql", _now))
        lifecycle = "crowdrag.jobs.lifecycle"
        stack.enter_context(mock.patch(f"{lifecycle}.code_version", return_value=CODE))
        stack.enter_context(mock.patch(f"{lifecycle}.software_environment", return_value=ENVIRONMENT))
        database_reset.empty()
        stack.callback(database_reset.empty)
        _count_from_one()
        yield


def _now(self: Now, compiler: Any, connection: Any, **context: Any) -> Any:
    """Let the database's clock stand as well."""
    return self.as_sql(compiler, connection, template=f"TIMESTAMPTZ '{NOW.isoformat()}'", **context)


def _count_from_one() -> None:
    """Let every table count from 1: tasks are drawn by the keys of rows, and addresses show them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT schemaname, sequencename FROM pg_sequences WHERE schemaname = 'public'")
        for schema, sequence in cursor.fetchall():
            # Of tables that are never emptied, numbers go on.
            if not sequence.startswith(("django_migrations", "django_content_type", "auth_permission")):
                cursor.execute(f'ALTER SEQUENCE "{schema}"."{sequence}" RESTART')


def number(study: Study) -> None:
    """Replace ids of chance by numbers, in the order of the rows; tables are sorted by them."""
    for word, model in NUMBERED.items():
        of_study = model._default_manager.filter(external_id__regex=OF_CHANCE)
        for place, key in enumerate(of_study.order_by("pk").values_list("pk", flat=True), start=1):
            model._default_manager.filter(pk=key).update(external_id=f"{word}-{place}")
    assert not Participant.objects.filter(study=study, external_id__regex=OF_CHANCE).exists()


def normalised(value: Any) -> Any:
    """Replace in an output what is of chance, of time or of a machine."""
    keys = enumerate(Run.objects.order_by("pk").values_list("key", flat=True), start=1)
    runs = {text: f"<run {place}>" for place, key in keys for text in (str(key), key.hex, f"{str(key)[:8]}…")}
    pattern = re.compile("|".join(map(re.escape, runs)) or r"(?!)")

    def replaced(value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            text = pattern.sub(lambda found: runs[found[0]], value)
            for other, replacement in REPLACED:
                text = other.sub(replacement, text)
            return text
        if isinstance(value, dict):
            return {name: replaced(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [replaced(each) for each in value]
        return 0 if key in SIZES and isinstance(value, int) else value

    return replaced(value)
