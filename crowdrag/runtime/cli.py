"""The command `crowdrag`: management commands, and commands for the system as a whole."""

import argparse
import difflib
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from crowdrag.runtime import embedded_stores, environment, settings_check, usage
from crowdrag.runtime.data_folder import DataFolder, Problem
from crowdrag.runtime.exit_codes import ExitCode

# Management commands that never use the database.
OFFLINE = {
    "check",
    "compilemessages",
    "convert",
    "diffsettings",
    "findstatic",
    "help",
    "judge_certificate",
    "makemessages",
    "reference",
    "version",
    "--help",
    "--version",
}

# Management commands that read an existing system and must not create an empty one.
READS_SYSTEM = {"check_invariants"}

UNDEFINED_TABLE = "42P01"  # as PostgreSQL calls it


def main(arguments: list[str] | None = None) -> None:
    """Run one command; a problem that a person must fix ends with its message and `ExitCode.FAILED`."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        environment.read_secret_files()
        if not words or words in (["help"], ["--help"], ["-h"]):
            print(usage.text())
            return
        words = [words[0] if words[0].startswith("-") else words[0].replace("-", "_"), *words[1:]]
        if words[0] in COMMANDS:
            _check_settings(words)
            COMMANDS[words[0]](words)
        elif words[0] == "manage":
            manage(words[1:] or ["help"])
        else:
            manage(words)
    except Problem as problem:
        print(f"crowdrag: {problem}", file=sys.stderr)
        sys.exit(ExitCode.FAILED)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)


def _check_settings(words: list[str]) -> None:
    """Refuse wrong variables before a command starts anything; warn of variables that nothing reads."""
    # `down` and `doctor` must work with wrong settings. With `--detach`, the process in the background checks them.
    if words[0] in ("down", "doctor") or {"-h", "--help", "--detach"} & set(words):
        return
    if words[0] == "prepare" and any(word.endswith("static") for word in words[1:]):
        return  # images collect static files without keys
    for warning in settings_check.unknown_names():
        print(f"crowdrag: {warning}", file=sys.stderr)
    # A restore brings its own keys.
    settings_check.require_valid(None if words[0] in ("restore", "drill") else DataFolder.chosen())


def manage(words: list[str]) -> None:
    """Run a management command, with the embedded stores available if they are ours."""
    from django.core.management import execute_from_command_line

    if words[0] not in usage.names() | OFFLINE:
        close = difflib.get_close_matches(words[0], sorted(usage.names()), n=1)
        advice = f"Did you mean {close[0]}?" if close else "`crowdrag help` lists the commands."
        print(f"crowdrag: There is no command {words[0]}. {advice}", file=sys.stderr)
        sys.exit(ExitCode.USAGE)
    # A signal must end the command like an exception, so that nothing is left half done.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(ExitCode.TERMINATED))
    folder = DataFolder.chosen()
    if OFFLINE & {*words[:1], *(part for part in words if part.startswith("--"))}:
        folder.create()
        os.environ.update(environment.missing_variables(folder))
        execute_from_command_line(["crowdrag", *words])
        return
    _check_settings(words)
    if words[0] in READS_SYSTEM:
        embedded_stores.require_system(folder)
    with embedded_stores.borrow(folder) as variables:
        os.environ.update(variables)
        _execute(words)


def _execute(words: list[str]) -> None:
    from django.core.management import execute_from_command_line
    from django.db.utils import OperationalError, ProgrammingError

    try:
        execute_from_command_line(["crowdrag", *words])
    except OperationalError as error:
        # Only an error of the connection comes without a state.
        if getattr(error.__cause__, "sqlstate", None) is not None:
            raise
        raise Problem(f"PostgreSQL does not answer (DATABASE_URL): {str(error).strip()}") from error
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", "") != UNDEFINED_TABLE:
            raise
        raise Problem(
            "The database has no tables or outdated ones. Run `crowdrag migrate`, or start it with `crowdrag up`."
        ) from error


def _parser(command: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"crowdrag {command}", description=usage.purpose(command))


def _up_parser(command: str) -> argparse.ArgumentParser:
    from crowdrag.runtime import local_system as system

    parser = _parser(command)
    parser.add_argument("--host", default=os.environ.get("HOST_ADDRESS", "127.0.0.1"), help="address to listen on")
    parser.add_argument("--port", type=_port_number, default=_port(), help="port of the web server (also PORT=...)")
    parser.add_argument(
        "--detach", action="store_true", help="return when everything is ready (`crowdrag down` stops it)"
    )
    parser.add_argument(
        "--only", type=_parts, default=system.PARTS, metavar="PART,...", help=f"only some of {', '.join(system.PARTS)}"
    )
    return parser


def up(words: list[str]) -> None:
    """Start everything (also `demo`)."""
    from crowdrag.runtime import local_system as system

    options = PARSERS[words[0]]().parse_args(words[1:])
    folder = DataFolder.chosen()
    if words[0] == "demo":
        # The demo's emails are files, since there is nobody to send them to.
        os.environ.setdefault("EMAIL_URL", f"filemail:///{folder.mail}")
    if options.detach:
        system.detach(folder, [part for part in words if part != "--detach"])
        return
    system.run(folder, system.StartOptions(options.host, options.port, demo=words[0] == "demo", only=options.only))


def _port() -> int | None:
    port = os.environ.get("PORT", "")
    return int(port) if port.isdigit() else None  # anything else was refused before


def _port_number(text: str) -> int:
    try:
        settings_check.TYPES["port"].check(text)
    except ValueError:
        use = settings_check.TYPES["port"].use
        raise argparse.ArgumentTypeError(f"{text} is not a valid port. Use {use}.") from None
    return int(text)


def _parts(text: str) -> tuple[str, ...]:
    from crowdrag.runtime.local_system import PARTS

    names = tuple(part.strip() for part in text.split(","))
    if unknown := set(names) - set(PARTS):
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(PARTS)}")
    return names


def _down_parser() -> argparse.ArgumentParser:
    return _parser("down")


def down(words: list[str]) -> None:
    """Stop everything."""
    from crowdrag.runtime import local_system as system

    PARSERS[words[0]]().parse_args(words[1:])
    system.down(DataFolder.chosen())


def _serve_parser() -> argparse.ArgumentParser:
    from crowdrag.runtime import layouts

    parser = _parser("serve")
    parser.add_argument("part", choices=layouts.PARTS)
    parser.add_argument("--host", default=os.environ.get("HOST_ADDRESS", "127.0.0.1"), help="address to listen on")
    parser.add_argument("--port", type=_port_number, default=_port(), help="port of the web server (also PORT=...)")
    parser.add_argument(
        "--check", action="store_true", help="check the health of the part that runs here (exit status 1 if unhealthy)"
    )
    return parser


def serve(words: list[str]) -> None:
    """Run one part in the foreground, with the operator's own services."""
    from crowdrag.runtime import parts as serving

    options = PARSERS[words[0]]().parse_args(words[1:])
    environment.require_explicit()
    port = options.port or system_port()
    if options.check:
        print(serving.check(DataFolder.chosen(), options.part, port))
    else:
        sys.exit(serving.serve(DataFolder.chosen(), options.part, options.host, port))


def system_port() -> int:
    """Return the default port of the web server."""
    from crowdrag.runtime.local_system import DEFAULT_PORT

    return DEFAULT_PORT


def _prepare_parser() -> argparse.ArgumentParser:
    parser = _parser("prepare")
    parser.add_argument(
        "--only", choices=("database", "static"), help=("one of the two (`static` does not use the database)")
    )
    return parser


def prepare(words: list[str]) -> None:
    """Migrate the operator's own database and publish the static files, while an earlier release may be serving."""
    from crowdrag.runtime import operator_services
    from crowdrag.runtime import preparation as preparing

    only = PARSERS[words[0]]().parse_args(words[1:]).only
    if only != "static":
        environment.require_explicit()
        operator_services.require_database()
    folder = DataFolder.chosen()
    folder.create()
    os.environ.update(environment.missing_variables(folder))
    preparing.main(database=only != "static", static=only != "database")


def _doctor_parser() -> argparse.ArgumentParser:
    from crowdrag.runtime import doctor as examination

    parser = _parser("doctor")
    parser.add_argument(
        "--within", type=float, default=examination.WITHIN, metavar="SECONDS", help=("duration of the check")
    )
    parser.add_argument("--running", action="store_true", help="exit with 1 if the system is not running")
    _add_json_option(parser)
    return parser


def doctor(words: list[str]) -> None:
    """Show what is installed and what is missing; status 1 if something needed is missing."""
    import psutil

    from crowdrag.runtime import doctor as examination

    options = PARSERS[words[0]]().parse_args(words[1:])
    left = examination.left_of(options.within, began=psutil.Process().create_time(), now=time.time())
    findings = examination.examine(DataFolder.chosen(), left, must_run=options.running)
    is_well = examination.is_well(findings)
    if options.json:
        _print_json({"is_well": is_well, "findings": [asdict(finding) for finding in findings]})
    else:
        print(examination.table(findings), flush=True)
    # Exit at once: a check that hangs must not delay the end.
    os._exit(ExitCode.DONE if is_well else ExitCode.FAILED)


def _backup_parser() -> argparse.ArgumentParser:
    parser = _parser("backup")
    parser.add_argument("file", type=Path, help="the file to write")
    _add_json_option(parser)
    return parser


def backup(words: list[str]) -> None:
    """Write everything into one file."""
    from crowdrag.runtime import backups as saving
    from crowdrag.runtime import restore as rehearsing

    options = PARSERS[words[0]]().parse_args(words[1:])
    folder, target, began = DataFolder.chosen(), options.file, time.monotonic()
    manifest = saving.backup(folder, target)
    facts = {"kind": "BACKUP", "file": target.name, "is_good": True, "size": target.stat().st_size}
    facts |= {"seconds": round(time.monotonic() - began, 1), **rehearsing.figures(manifest)}
    if options.json:
        _print_json({**facts, "file": str(target)})
    else:
        print(saving.summary(folder, target, manifest), flush=True)
    if problem := saving.record(folder, facts):
        print(f"The backup file is complete, but the system did not record it:\n{problem}", file=sys.stderr)


def _drill_parser() -> argparse.ArgumentParser:
    parser = _parser("drill")
    parser.add_argument("file", type=Path, help="a backup")
    parser.add_argument(
        "--place", type=Path, help=("a folder with enough space for a complete system (default: the data folder)")
    )
    _add_json_option(parser)
    return parser


def drill(words: list[str]) -> None:
    """Rehearse a restore in a separate folder; status 1 if the restored system is not complete."""
    from crowdrag.runtime import backups
    from crowdrag.runtime import restore as rehearsing

    options = PARSERS[words[0]]().parse_args(words[1:])
    folder = DataFolder.chosen()
    done = rehearsing.drill(folder, options.file, place=options.place)
    facts = done.facts(options.file)
    if options.json:
        _print_json({**facts, "file": str(options.file)})
    else:
        print(f"{done.message} ({done.seconds:.1f} s)")
    if problem := backups.record(folder, facts):
        print(f"The drill is complete, but the system did not record it:\n{problem}", file=sys.stderr)
    if not done.is_good:
        sys.exit(ExitCode.FAILED)


def _restore_parser() -> argparse.ArgumentParser:
    parser = _parser("restore")
    parser.add_argument("file", type=Path, help="the backup to restore")
    parser.add_argument("--force", action="store_true", help="replace a system that is in use")
    _add_json_option(parser)
    return parser


def restore(words: list[str]) -> None:
    """Restore a system from a backup."""
    from crowdrag.runtime import backups
    from crowdrag.runtime import restore as giving_back

    options = PARSERS[words[0]]().parse_args(words[1:])
    folder, began = DataFolder.chosen(), time.monotonic()
    manifest = giving_back.restore(folder, options.file, force=options.force)
    figures = giving_back.figures(manifest)
    if options.json:
        _print_json({"file": str(options.file), **figures})
    else:
        print(
            f"Restored the system of {manifest['made_at']} ({figures['rows']:,} rows). Start it: crowdrag up",
            flush=True,
        )
    # A backup is recorded after its snapshot, so the restored list of backups lacks this one.
    facts = {"kind": "BACKUP", "file": options.file.name, "is_good": True, "size": options.file.stat().st_size}
    facts |= {"at": manifest["made_at"], "seconds": round(time.monotonic() - began, 1), **figures}
    facts["message"] = f"This system was restored from this backup on {datetime.now(UTC):%d %b %Y, %H:%M} UTC."  # noqa: TID251 - no Django here
    if problem := backups.record(folder, facts):
        print(f"The restore is complete, but the system did not record it:\n{problem}", file=sys.stderr)


def _superuser_parser() -> argparse.ArgumentParser:
    parser = _parser("createsuperuser")
    parser.add_argument("--email", help="the email address with which the operator signs in")
    parser.add_argument(
        "--noinput",
        "--no-input",
        dest="no_input",
        action="store_true",
        help="ask no questions: --email is required, and DJANGO_SUPERUSER_PASSWORD must contain the password",
    )
    return parser


def createsuperuser(words: list[str]) -> None:
    """Create an account that may do everything; asks on a terminal, and nowhere else."""
    options = PARSERS[words[0]]().parse_args(words[1:])
    example = "DJANGO_SUPERUSER_PASSWORD=... crowdrag createsuperuser --no-input --email you@example.org"
    email = ["--email", options.email] if options.email else []
    if options.no_input:
        has_email = options.email or os.environ.get("DJANGO_SUPERUSER_EMAIL")
        if not has_email or not os.environ.get("DJANGO_SUPERUSER_PASSWORD"):
            raise Problem(f"An email address and a password are required. For example: {example}")
        manage([words[0], "--no-input", *email])
        return
    if not sys.stdin.isatty():
        raise Problem(f"No account was created, since there is no terminal to ask questions on. In a script: {example}")
    try:
        manage([words[0], *email])
    except EOFError:
        raise Problem("No account was created, since the input ended.") from None


def _add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help=usage.JSON_HELP)


def _print_json(values: dict[str, Any]) -> None:
    print(json.dumps(values, ensure_ascii=False, indent=2), flush=True)


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "up": up,
    "demo": up,
    "down": down,
    "serve": serve,
    "prepare": prepare,
    "doctor": doctor,
    "backup": backup,
    "drill": drill,
    "restore": restore,
    "createsuperuser": createsuperuser,
}
#: The options of each command; docs/reference/commands.md is generated from them.
PARSERS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    "up": partial(_up_parser, "up"),
    "demo": partial(_up_parser, "demo"),
    "down": _down_parser,
    "serve": _serve_parser,
    "prepare": _prepare_parser,
    "doctor": _doctor_parser,
    "backup": _backup_parser,
    "drill": _drill_parser,
    "restore": _restore_parser,
    "createsuperuser": _superuser_parser,
}

if __name__ == "__main__":
    main()
