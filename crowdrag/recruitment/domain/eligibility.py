"""Who may take part, in the platform's words: filters, whose ids and values the platform itself is asked for.

A campaign says `languages` and `countries` (by their ISO codes, or as the platform writes them),
`approval_rate` (least, in per cent) and `completed` (least number of approved submissions). What the platform has no
filter for is not dropped in silence: the draft is not made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf.locale import LANG_INFO
from django.utils.translation import gettext as _

from . import countries
from .prolific import api
from .prolific.client import Client

MOST: Final = 1_000_000
# How our terms are found among the platform's filters: by id where the id is known to have been used, else by title.
_IDS: Final[Mapping[str, Sequence[str]]] = {
    "approval_rate": ("approval_rate",),
    "completed": ("approval_numbers", "total_approvals", "number_of_previous_submissions"),
    "languages": ("first-language",),
    "fluent": ("fluent-languages",),
    "countries": ("current-country-of-residence",),
}
_TITLES: Final[Mapping[str, Sequence[str]]] = {
    "approval_rate": ("approval rate",),
    "completed": ("number of previous submissions", "approved submissions", "approval numbers"),
    "languages": ("first language",),
    "fluent": ("fluent languages",),
    "countries": ("current country of residence",),
}


class EligibilityError(ValueError):
    """The platform cannot choose people like this."""


@dataclass(frozen=True)
class _Filters:
    rows: list[dict[str, Any]]

    def of(self, term: str) -> dict[str, Any]:
        """Return the platform's filter for one of our terms."""
        for row in self.rows:
            if row.get("filter_id") in _IDS[term]:
                return row
        for row in self.rows:
            if str(row.get("title", "")).strip().lower() in _TITLES[term]:
                return row
        raise EligibilityError(_("Prolific has no filter for “%(term)s” any more.") % {"term": term})


def filters(client: Client, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the filters that stand for who may take part; asks the platform only where something is wanted.

    Raises
    ------
    EligibilityError
        if there is no such filter or no such value, or a term that we do not know.
    """
    terms = {name: value for name, value in wanted.items() if value not in (None, "", [], {})}
    if unknown := set(terms) - set(_IDS):
        raise EligibilityError(_("Nobody can be chosen by “%(term)s”.") % {"term": min(unknown)})
    if not terms:
        return []
    known = _Filters(api.filters(client))
    found = []
    for term, value in sorted(terms.items()):
        row = known.of(term)
        chosen = _range(row, term, value) if term in {"approval_rate", "completed"} else _values(row, term, value)
        found.append({"filter_id": row["filter_id"], **chosen})
    return found


def _range(row: Mapping[str, Any], term: str, least: object) -> dict[str, Any]:
    most = 100 if term == "approval_rate" else int(row.get("max") or MOST)
    if not isinstance(least, int) or isinstance(least, bool) or not 0 <= least <= most:
        raise EligibilityError(_("“%(term)s” is a number from 0 to %(most)d.") % {"term": term, "most": most})
    return {"selected_range": {"lower": least, "upper": most}}


def _values(row: Mapping[str, Any], term: str, wanted: object) -> dict[str, Any]:
    names = [wanted] if isinstance(wanted, str) else list(wanted) if isinstance(wanted, list | tuple) else []
    choices = row.get("choices")
    if not names or not isinstance(choices, Mapping):
        raise EligibilityError(
            _("Prolific's filter “%(title)s” takes no such choice.") % {"title": row.get("title", "")}
        )
    by_name = {str(label).strip().lower(): str(key) for key, label in choices.items()}
    chosen = []
    for name in names:
        spoken = _spoken(term, str(name)).strip().lower()
        if spoken not in by_name:
            message = _("Prolific's filter “%(title)s” does not know “%(name)s”.")
            raise EligibilityError(message % {"title": row.get("title", ""), "name": name})
        chosen.append(by_name[spoken])
    return {"selected_values": chosen}


def _spoken(term: str, name: str) -> str:
    """Return the English name of a language or country that is given by its code; another name as it is."""
    if term == "countries":
        return countries.NAMES.get(name, name)
    return str(LANG_INFO.get(name, {}).get("name", name))
