"""Rows of texts that never change: the same content again is the same version, other content the next one."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Max

from crowdrag.studies.models import Study, Versioned

V = TypeVar("V", bound=Versioned)


def ensure(model: type[V], *, study: Study, name: str, now: datetime, **content: Any) -> tuple[V, bool]:
    """Return the version of a text with this content, and whether it had to be made.

    Of several versions with the same content, the latest. The caller holds whatever keeps two writers apart.
    """
    named = model._default_manager.filter(study=study, name=name)
    same = named.filter(**content).order_by("-version", "id").first()
    if same is not None:
        return same, False
    latest = named.aggregate(latest=Max("version"))["latest"] or 0
    made = model._default_manager.create(study=study, name=name, version=latest + 1, created_at=now, **content)
    return made, True


def current(model: type[V], *, study: Study, names: Iterable[str] | None = None) -> dict[str, V]:
    """Return the latest version of each text by name."""
    rows = model._default_manager.filter(study=study)
    if names is not None:
        rows = rows.filter(name__in=list(names))
    return {row.name: row for row in rows.order_by("version", "id")}
