"""What a backup and a restore share: the layout of the file, and how the database is asked."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, LiteralString

import psycopg
from psycopg import sql

FORMAT = 1
MANIFEST = "manifest.json"
DUMP = "database.dump"
CHUNK = 1024 * 1024


def libpq(url: str) -> str:
    """Return a database address as PostgreSQL's own programs read it; Django's notation knows more schemes."""
    return "postgresql://" + url.split("://", 1)[1]


def digest_of(file: IO[bytes]) -> tuple[str, int]:
    """Return SHA-256 and length of what is left in a file."""
    digest, size = hashlib.sha256(), 0
    for chunk in chunks(file):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file in pieces."""
    while chunk := file.read(CHUNK):
        yield chunk


def fingerprint(key: str) -> str:
    """Return a few characters that tell two keys apart and say nothing about them."""
    return hashlib.sha256(b"crowdrag key " + key.encode()).hexdigest()[:12]


def files_below(root: Path) -> list[Path]:
    """Return every file below a folder, in a fixed order."""
    return sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def tables(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the names of our tables."""
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
    return [row[0] for row in rows]


def row_counts(connection: psycopg.Connection[Any]) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {name: _one(connection, "SELECT count(*) FROM {}", name) for name in tables(connection)}


def _one(connection: psycopg.Connection[Any], query: LiteralString, table: str) -> int:
    row = connection.execute(sql.SQL(query).format(sql.Identifier("public", table))).fetchone()
    assert row is not None
    return int(row[0])
