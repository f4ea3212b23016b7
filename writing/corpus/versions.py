"""Versioned texts (equal content is the same version) and the default styles."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Max
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from crowdrag.studies.models import Study, Versioned
from crowdrag.studies.page_language import in_study_language

from ..models import Style

V = TypeVar("V", bound=Versioned)


def ensure(model: type[V], *, study: Study, name: str, now: datetime, **content: Any) -> tuple[V, bool]:
    """Return the version of a text with this content, and whether it was created.

    If several versions have the same content, the latest is returned. The caller must prevent concurrent writes.
    """
    named = model._default_manager.filter(study=study, name=name)
    same = named.filter(**content).order_by("-version", "id").first()
    if same is not None:
        return same, False
    latest = named.aggregate(latest=Max("version"))["latest"] or 0
    version_row = model._default_manager.create(study=study, name=name, version=latest + 1, created_at=now, **content)
    return version_row, True


def current(model: type[V], *, study: Study, names: Iterable[str] | None = None) -> dict[str, V]:
    """Return the latest version of each text by name."""
    rows = model._default_manager.filter(study=study)
    if names is not None:
        rows = rows.filter(name__in=list(names))
    return {row.name: row for row in rows.order_by("version", "id")}


_TASK = _(
    "Write a response of about 250 words to the question. Use the passages next to the editor. "
    "Cite every claim that you take from a passage: put the number of the passage in brackets directly after the "
    "claim, for example [0]. If several passages support the claim, cite them all: [3, 7]. "
    "Do not use a language model."
)

DEFAULT_STYLES = {
    "bullet": (
        _("Bulleted list"),
        _("List all points that are relevant to the question as bullets, one per line."),
    ),
    "essay": (_("Essay"), _("Begin with a clear thesis, then give the arguments, and end with a conclusion.")),
    "news": (
        _("News"),
        _(
            "Begin with the most important facts. Then give the important details. End with the background "
            "(the inverted pyramid of a news article)."
        ),
    ),
}


def ensure_styles(*, study: Study, names: Iterable[str], now: datetime) -> dict[str, Style]:
    """Return the latest version of the study's styles with these names; create missing default styles.

    A name that is neither in the study nor a default is not in the result.
    """
    needed = dict.fromkeys(names)
    styles = current(Style, study=study, names=needed)
    for name in needed:
        if name not in styles and name in DEFAULT_STYLES:
            label, instructions = DEFAULT_STYLES[name]
            with in_study_language(study):
                texts = {"label": gettext(label), "instructions": f"{gettext(_TASK)}\n\n{gettext(instructions)}"}
            styles[name], _made = ensure(Style, study=study, name=name, now=now, target_words=250, **texts)
    return styles
