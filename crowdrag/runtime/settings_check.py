"""Check the variables of the environment before anything starts: a wrong one is named, with what to do.

`crowdrag/operations/reference/variables.toml` says for each variable what it means and which type of value it takes.
The documentation is generated from the same file.
"""

import base64
import difflib
import ipaddress
import os
import tomllib
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from crowdrag.runtime import environment
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder, Problem
from crowdrag.storage import storage_settings

#: Variables that start so are read, but not listed: the keys of language models, and those of our tools and examples.
FAMILIES: Final = ("CROWDRAG_LLM_KEY_", "CROWDRAG_BENCH_", "CROWDRAG_TESTS_")
#: Variables of our tools, examples and images, which nothing reads at run time.
TOOLS: Final = frozenset({
    "CROWDRAG_ACCEPT_API", "CROWDRAG_API_EXAMPLES", "CROWDRAG_COVERAGE", "CROWDRAG_DATA", "CROWDRAG_EXAMPLES",
    "CROWDRAG_IMAGE", "CROWDRAG_NEURAL_IMAGE", "CROWDRAG_PICTURES", "CROWDRAG_TOKEN",
})  # fmt: skip
MAIL_SCHEMES: Final = ("smtp", "smtps", "smtp+tls", "smtp+ssl")
FALSE: Final = frozenset({"false", "off", "n", "no", "0"})
LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@dataclass(frozen=True)
class Variable:
    """A variable of the environment."""

    name: str
    meaning: str
    type: str = ""


@cache
def groups() -> dict[str, tuple[Variable, ...]]:
    """Return the variables by group, as the documentation lists them."""
    path = REPOSITORY / "crowdrag" / "operations" / "reference" / "variables.toml"
    return {
        group: tuple(
            Variable(name, entry) if isinstance(entry, str) else Variable(name, **entry)
            for name, entry in entries.items()
        )
        for group, entries in tomllib.loads(path.read_text(encoding="utf-8")).items()
    }


def _whole(least: int, most: int | None = None) -> Callable[[str], None]:
    def check(text: str) -> None:
        number = int(text)
        if number < least or (most is not None and number > most):
            raise ValueError

    return check


def _number(text: str) -> None:
    if not 0 <= float(text) < float("inf"):
        raise ValueError


def _one_of(*words: str) -> Callable[[str], None]:
    def check(text: str) -> None:
        if text not in words:
            raise ValueError

    return check


def _boolean(text: str) -> None:
    if text.strip().lower() not in environment.TRUE | FALSE:
        raise ValueError


def _url(*schemes: str) -> Callable[[str], None]:
    def check(text: str) -> None:
        parts = urllib.parse.urlsplit(text)
        # A socket has a path and no host; reading the port raises an error if it is no number.
        if parts.scheme not in schemes or not (parts.hostname or parts.path or parts.query) or parts.port == 0:
            raise ValueError

    return check


def _scheme(*schemes: str) -> Callable[[str], None]:
    def check(text: str) -> None:
        scheme, _, rest = text.partition("://")
        if scheme not in schemes or not rest:
            raise ValueError

    return check


def _mail(text: str) -> None:
    parts = urllib.parse.urlsplit(text)
    if parts.scheme in MAIL_SCHEMES and parts.hostname and parts.port != 0:
        return
    if parts.scheme == "filemail" and not parts.netloc and len(parts.path) > 1:
        return
    if parts.scheme not in ("consolemail", "memorymail", "dummymail"):
        raise ValueError


def _networks(text: str) -> None:
    for part in filter(None, text.split(",")):
        ipaddress.ip_network(part)


def _identity_key(text: str) -> None:
    if len(base64.urlsafe_b64decode(text)) != 32:
        raise ValueError


def _storage(text: str) -> None:
    storage_settings(text)


@dataclass(frozen=True)
class Type:
    """A type of value: what it is called, what to use, and a function that raises ValueError for anything else."""

    noun: str
    use: str
    check: Callable[[str], None]
    is_number: bool = False


TYPES: Final[dict[str, Type]] = {
    "port": Type("port", "a number from 1 to 65535", _whole(0, 65535), is_number=True),
    "count": Type("number", "a whole number, 0 or more", _whole(0), is_number=True),
    "positive": Type("number", "a whole number, 1 or more", _whole(1), is_number=True),
    "number": Type("number", "a number, 0 or more", _number, is_number=True),
    "boolean": Type("truth value", "true or false", _boolean),
    "level": Type("level", ", ".join(LEVELS[:-1]) + f" or {LEVELS[-1]}", _one_of(*LEVELS)),
    "networks": Type("list of networks", "networks such as 10.1.0.0/16, separated by commas", _networks),
    "web": Type("address", "an address such as https://host/v1", _url("http", "https")),
    "database": Type(
        "address of PostgreSQL",
        "postgresql://user:password@host/crowdrag",
        _scheme("postgresql", "postgres", "psql", "pgsql"),
    ),
    "broker": Type(
        "address of Valkey or Redis",
        "rediss://:password@host:6379/0",
        _url("redis", "rediss", "redis+socket", "unix", "sentinel"),
    ),
    "mail": Type("mail server", "an address such as smtp+tls://user:password@host:587, or filemail:////folder", _mail),
    "identity key": Type("key", "a Fernet key: 32 bytes in URL-safe Base64, which are 44 characters", _identity_key),
    "storage": Type("storage", "s3://BUCKET?endpoint=https://HOST, or nothing", _storage),
}


def problem_with(variable: Variable, value: str) -> str:
    """Return what is wrong with a value and what to do, or nothing. A secret is never part of it."""
    if not value or not variable.type:
        return ""
    kind = TYPES[variable.type]
    try:
        kind.check(value)
    except ValueError as error:
        shown = variable.name if variable.name in environment.SECRET else f"{variable.name}={value}"
        file = os.environ.get(f"{variable.name}{environment.FILE_SUFFIX}")
        where = f" (from the file {file})" if file else ""
        why = f" {error}" if kind.check is _storage else f" Use {kind.use}."
        return f"{shown}{where} is not a valid {kind.noun}.{why}"
    return ""


def problems() -> list[str]:
    """Return what is wrong with the values of our variables, one sentence or two for each."""
    variables = [variable for group in groups().values() for variable in group]
    sentences = (problem_with(variable, os.environ.get(variable.name, "")) for variable in variables)
    return [sentence for sentence in sentences if sentence]


def unknown_names() -> list[str]:
    """Return a sentence for each variable that looks like ours and that nothing reads."""
    known = {variable.name for group in groups().values() for variable in group}
    ours = sorted(name for name in known if name.startswith("CROWDRAG_"))
    warnings = []
    for name in sorted(os.environ):
        plain = name.removesuffix(environment.FILE_SUFFIX)
        if not name.startswith("CROWDRAG_") or plain.startswith(FAMILIES) or {name, plain} & (known | TOOLS):
            continue
        close = difflib.get_close_matches(plain, ours, n=1)
        advice = f"Did you mean {close[0]}?" if close else "See docs/reference/settings.md for the settings."
        warnings.append(f"{name} is not a setting of CrowdRAG and has no effect. {advice}")
    return warnings


def drop_empty_numbers() -> None:
    """Unset numbers without a value, as a compose file passes them: then the default counts."""
    for group in groups().values():
        for variable in group:
            if variable.type and TYPES[variable.type].is_number and os.environ.get(variable.name) == "":
                del os.environ[variable.name]


def require_valid(folder: DataFolder | None = None) -> None:
    """Refuse to start with wrong values, all of them named at once, or with another identity key than the folder's.

    Raises
    ------
    Problem
        that says for each what to do.
    """
    drop_empty_numbers()
    if sentences := problems():
        raise Problem("\n".join(sentences))
    if folder is not None:
        environment.refuse_other_identity_key(folder)
