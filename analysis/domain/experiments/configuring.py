"""An experiment written down in a TOML file, to be kept beside a paper and run again (docs/guides/experiments.md).

Its keys are the options of `crowdrag experiment` without their dashes; the experiment's own parameters stand in a table
`[parameters]`. A path is read from where the file lies.
"""

import tomllib
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from .experiment import BadParameterError

#: What may stand in it beside the parameters, and of which kind it is.
KEYS: dict[str, type] = {
    "study": str,
    "file": str,
    "format": str,
    "corpus": str,
    "candidates": int,
    "searcher": str,
    "others": int,
    "style": str,
    "queries": int,
    "generator": str,
    "seed": int,
}
PATHS = {"file", "corpus"}
PARAMETERS = "parameters"
_KINDS = {str: "a text in quotes", int: "a whole number"}


def read(path: Path) -> dict[str, Any]:
    """Return what a file says: values by key, those of `PATHS` as paths, and the parameters as a dictionary.

    Raises
    ------
    BadParameterError
        If the file cannot be read, is no TOML, or holds a key that is unknown or of another kind; it says which.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadParameterError(
            _("%(path)s cannot be read: %(why)s.") % {"path": path, "why": error.strerror}
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadParameterError(_("%(path)s is no TOML: %(why)s.") % {"path": path, "why": error}) from error
    parameters = found.pop(PARAMETERS, {})
    if not isinstance(parameters, dict):
        raise BadParameterError(_("%(path)s: parameters is a table, [parameters].") % {"path": path})
    for key, value in found.items():
        _check(path, key, value)
    for key in PATHS & set(found):
        found[key] = path.parent / found[key]
    return {**found, PARAMETERS: parameters}


def _check(path: Path, key: str, value: Any) -> None:
    if key not in KEYS:
        said = _("%(path)s: there is no key %(key)s; there are %(known)s, and the table [parameters].")
        raise BadParameterError(said % {"path": path, "key": key, "known": ", ".join(KEYS)})
    if type(value) is not KEYS[key]:
        said = _("%(path)s: %(key)s is %(kind)s, not %(given)r.")
        raise BadParameterError(said % {"path": path, "key": key, "kind": _KINDS[KEYS[key]], "given": value})
