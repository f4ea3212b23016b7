"""Free disk space, and what uses it."""

import shutil
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.db.models import Count, F, Sum

from analysis.models import ReleaseFile
from crowdrag.jobs.models import Artifact, Upload

TABLES_SHOWN: Final = 25
# Below this share of free space a disk counts as nearly full.
NEARLY_FULL: Final = 0.1
_TABLES = """
    SELECT relname, pg_total_relation_size(c.oid), pg_indexes_size(c.oid), greatest(reltuples, 0)::bigint
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND relkind IN ('r', 'p')
    ORDER BY 2 DESC, 1 LIMIT %s
"""


def disks() -> list[dict[str, Any]]:
    """Return the disks that this machine writes to, each once, with what is stored on it."""
    uploads = settings.FILE_UPLOAD_TEMP_DIR or tempfile.gettempdir()
    places = {"data": settings.DATA_DIR, "files": settings.MEDIA_ROOT, "uploads": uploads}
    by_device: dict[int, dict[str, Any]] = {}
    for name, folder in places.items():
        path = next(ancestor for ancestor in (Path(folder), *Path(folder).parents) if ancestor.exists())
        entry = by_device.setdefault(path.stat().st_dev, {"names": [], "usage": shutil.disk_usage(path)})
        entry["names"].append(name)
    for entry in by_device.values():
        usage = entry.pop("usage")
        entry |= {"total": usage.total, "free": usage.free, "share": usage.free / usage.total}
        entry["is_nearly_full"] = entry["share"] < NEARLY_FULL
        entry["is_below_reserve"] = usage.free < settings.DISK_RESERVE
    return list(by_device.values())


def largest_tables() -> list[dict[str, Any]]:
    """Return the largest tables: bytes with their indexes, bytes of these, and the database's estimate of rows."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES, [TABLES_SHOWN])
        return [dict(zip(("name", "size", "indexes", "rows"), row, strict=True)) for row in cursor.fetchall()]


def files_by_study() -> list[dict[str, Any]]:
    """Return the disk usage of each study's files, largest first; three queries."""
    kinds = ("made", "given", "released")
    sums: dict[str, dict[str, Any]] = defaultdict(lambda: {name: 0 for kind in kinds for name in (kind, f"{kind}_n")})
    artifacts = Artifact.objects.order_by().values(slug=F("run__study__slug")).annotate(n=Count("pk"), size=Sum("size"))
    uploads = Upload.objects.order_by().values(slug=F("study__slug")).annotate(n=Count("pk"), size=Sum("size"))
    # The row of a removed file stays.
    kept = ReleaseFile.objects.exclude(file="").order_by()
    released = kept.values(slug=F("release__study__slug")).annotate(n=Count("pk"), size=Sum("size"))
    for rows, name in zip((artifacts, uploads, released), kinds, strict=True):
        for row in rows:
            sums[row["slug"]] |= {name: row["size"], f"{name}_n": row["n"]}
    listed = [{"slug": slug, **entry} for slug, entry in sums.items()]
    return sorted(listed, key=lambda row: (-sum(row[kind] for kind in kinds), row["slug"]))


def storage_kind() -> str:
    """Return the kind of storage of the files."""
    # A lazy object: it creates the storage when an attribute such as its class is first read.
    return default_storage.__class__.__name__
