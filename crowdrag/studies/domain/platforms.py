"""Recruitment platforms: how they name, in the address that they open, who comes, for what and in which session."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

LONGEST = 200
# What platforms write: letters, digits and a few marks. A placeholder that was not filled in has braces or per cents.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~@:+=-]*")
# What may be the name of a URL parameter.
PARAMETER = re.compile(r"[A-Za-z0-9_.-]{1,50}")
ROLES = ("participant", "study", "session")
# Platforms whose names for them are known.
PRESETS = {
    "prolific": {"participant": "PROLIFIC_PID", "study": "STUDY_ID", "session": "SESSION_ID"},
}

# The parameter of a completion address that is the code, for whom has to type it there.
CODE = "cc"


class PlatformParametersError(ValueError):
    """The address with which somebody came does not say who they are."""


@dataclass(frozen=True)
class Named:
    """Who came, for which of the platform's studies, in which session."""

    participant: str
    study: str = ""
    session: str = ""


def read(names: Mapping[str, str], query: Mapping[str, str]) -> Named:
    """Read a platform's parameters by the names that a link gives them; the participant's must be there."""
    found = {role: query.get(names[role], "") for role in ROLES if names.get(role)}
    if not found.get("participant"):
        raise PlatformParametersError(
            _("The address does not say who you are: “%(name)s” is missing.") % {"name": names.get("participant", "")}
        )
    for role, value in found.items():
        if value and (len(value) > LONGEST or not _ID.fullmatch(value)):
            raise PlatformParametersError(
                _("The address is damaged: “%(name)s” is not what the platform writes.") % {"name": names[role]}
            )
    return Named(**found)
