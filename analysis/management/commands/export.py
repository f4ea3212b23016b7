"""`crowdrag export SLUG --format FORMAT --out FILE`: write a study, or its answers, as one file."""

import hashlib
import os
import uuid
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from analysis.archive import field_docs, services
from crowdrag.jobs.models import Artifact
from crowdrag.jobs.run_command import RunCommand
from crowdrag.studies.models import Study

CHUNK = 1024 * 1024


class Command(RunCommand):
    help = (
        "Export a study as one file: an archive that imports to an identical study, the CrowdRAG-25 layout, "
        "or its answers in a format of RAG evaluation."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?", help="the study's short name")
        parser.add_argument("--format", choices=list(services.WRITERS), default="archive")
        parser.add_argument("--out", type=Path, metavar="FILE", help="output file (an existing file is replaced)")
        parser.add_argument(
            "--schema",
            action="store_true",
            help="print the field dictionary of archives (docs/reference/archive.md) and exit",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["schema"]:
            self.stdout.write(field_docs.as_markdown(), ending="")
            return
        slug, out = options["slug"], options["out"]
        if not slug or out is None:
            raise CommandError("Give the study and the output file: crowdrag export SLUG --format archive --out FILE")
        study = Study.objects.filter(slug=slug).first()
        if study is None:
            known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)[:20]) or "none"
            raise CommandError(f"There is no study {slug}. Studies: {known}.")
        if not out.parent.is_dir():
            raise CommandError(f"The folder {out.parent} does not exist. Create it first.")
        if out.is_dir():
            raise CommandError(f"{out} is a folder. Add the file name: {out / (slug + '.zip')}")
        run = self.finished(services.start(study=study, format_=options["format"]))
        artifact = run.artifacts.get()
        try:
            _copy(artifact, out)
        except OSError as error:
            raise CommandError(
                f"{out} cannot be written: {error.strerror}. You can still download the export on the study's page."
            ) from error
        values = {"run": run.key, "study": slug, "file": str(out), "bytes": artifact.size, "sha256": artifact.sha256}
        lines = [f"{out}  {artifact.size:,} bytes  SHA-256 {artifact.sha256}"]
        if (left_out := run.summary.get(services.LEFT_OUT)) is not None:
            counts = "; ".join(f"{count:,} {what}" for what, count in left_out.items())
            values["left_out"] = left_out
            lines.append(f"Left out: {counts or 'nothing'}")
        self.print_result(values, *lines)


def _copy(artifact: Artifact, out: Path) -> None:
    """Copy a finished export; it gets its final name when it is complete and verified."""
    partial = out.with_name(f".{out.name}.{uuid.uuid4().hex}.partial")
    digest = hashlib.sha256()
    try:
        with artifact.file.open("rb") as source, partial.open("xb") as target:
            while chunk := source.read(CHUNK):
                digest.update(chunk)
                target.write(chunk)
            target.flush()
            os.fsync(target.fileno())
        if digest.hexdigest() != artifact.sha256:
            raise CommandError(
                "The stored export is damaged: its SHA-256 has changed since it was written. Export again."
            )
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
