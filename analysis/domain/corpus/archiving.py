"""An archive: everything of a study but what belongs to the system it is run on, in files that refer to each other."""

from collections.abc import Callable
from typing import Any

from crowdrag.jobs.kinds import Work
from crowdrag.studies.models import ConsentText, Study

from . import dictionary, tables
from .columns import Places
from .packing import Lines, Package
from .tables import ALL, FORMAT, SCHEMA_VERSION, ArchiveTable, dumpers

TICK = 500


def write(package: Package, work: Work) -> dict[str, Any]:
    """Write every table of the run's study, and return what the manifest says of them."""
    study = work.run.study
    total = sum(counts(study).values())
    done = 0

    def tick(rows: int, table: str) -> None:
        nonlocal done
        done += rows
        work.report(done, total, table)

    places = Places()
    for table in ALL:
        with package.lines(table.file) as lines:
            write_table(table, study, places, lines, lambda rows, name=table.name: tick(rows, name))  # type: ignore[misc]
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "fields": dictionary.of_archive(),
        "left_out": dictionary.left_out_of_archive(),
    }


def write_table(
    table: ArchiveTable,
    study: Study,
    places: Places,
    lines: Lines,
    tick: Callable[[int], None] = lambda _rows: None,
    version: int = SCHEMA_VERSION,
) -> None:
    """Write one table's rows as lines, a chunk in memory at a time, and note where they stand."""
    names = [column.name for column in table.columns_of(version)]
    places.begin(table.name)
    is_referred_to = tables.is_referred_to(table.name)
    convert = dumpers(table, study, places, version)
    rows = table.rows(study).values_list("pk", *table.sources(version)).iterator(chunk_size=table.chunk)
    for number, (pk, *values) in enumerate(rows, start=1):
        if is_referred_to:
            places.add(table.name, pk)
        line = {"id": number}
        for name, value, dump in zip(names, values, convert, strict=True):
            line[name] = dump(value)
        lines.write(line)
        if number % TICK == 0:
            tick(TICK)
    tick(lines.rows % TICK)


def counts(study: Study) -> dict[str, int]:
    """Return how many rows of each table the study has."""
    return {table.name: table.rows(study).count() for table in ALL}


def content(study: Study, version: int = SCHEMA_VERSION) -> dict[str, str]:
    """Return the digest of each table as an archive of a version would hold it: equal digests, equal studies."""
    found = {}
    places = Places()
    for table in tables.of_version(version):
        lines = Lines(lambda _data: None)
        write_table(table, study, places, lines, version=version)
        lines.flush()
        found[table.name] = lines.content_sha256
    return found


def licences(study: Study) -> dict[str, Any]:
    """Return under which licences the study's data are released."""
    texts = ConsentText.objects.filter(study=study).order_by("name", "version", "id")
    columns = ("name", "version", "text_licence", "log_licence", "timing_licence")
    return {"texts": study.text_licence, "consent_texts": list(texts.values(*columns))}
