"""Every output of the demo study, as values and texts that can be compared: made once, for all tests of it."""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.models import Release
from analysis.releases import builds, services
from analysis.releases.choices import Choices, Logs, Passages, Pseudonyms, Timing
from annotation.models import Pair
from crowdrag.demo import setup
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Study, User
from tests.factories import NOW
from tests.golden import fixed, outline, readable

#: Few resamples and starts, for speed: what they are is in each table's golden file.
PARAMETERS = {"resamples": 50, "restarts": 5, "refine": 2}
SEED = 1
#: What is not compared: pictures of figures, which follow from their specifications.
PICTURES = ("figures/",)
#: Longer tables are compared by their outline. Of results every row is compared.
LONGEST = 60
#: Other formats of the same rows, compared by their outline if they are longer.
REPEATED, LONGEST_REPEATED = ("csv/", "parquet/", "crowdrag25/", "data/result_tables", "artifacts/responses"), 10
#: The report's PDF is a part of its own: where its pages break follows from the fonts of the machine.
PDF = "report.pdf.txt"
#: In the place of drawings that nobody reads.
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
#: Of the release that holds little, these say nothing that the first one does not.
TWICE = (*REPEATED, "croissant")


def make(folder: Path, *, with_pdf: bool) -> dict[str, dict[str, Any]]:
    """Set the demo study up, analyse it, and return all its outputs by part and path.

    Without the PDF, figures are not drawn: of them their specifications are compared.
    """
    with ExitStack() as stack:
        if not with_pdf:
            stack.enter_context(mock.patch("vl_convert.vegalite_to_svg", return_value=EMPTY))
            stack.enter_context(mock.patch.object(readable, "pdf", return_value=""))
        study, user = _judged()
        results = _results(study, folder / "results")
        pdf = {PDF: results.pop(PDF)}
        parts = {"report-pdf": pdf, "results": results} if with_pdf else {"results": results}
        for format_ in ("archive", "crowdrag25"):
            parts[f"export-{format_}"] = _exported(study, format_, folder)
        parts |= _releases(study)
        parts["pages"] = _pages(study, user)
    parts = {part: fixed.normalised(outputs) for part, outputs in parts.items()}
    return {part: outputs if part == "results" else _shortened(outputs) for part, outputs in parts.items()}


def _shortened(outputs: dict[str, Any]) -> dict[str, Any]:
    """Outputs other than results, with their long tables as outlines."""
    return {
        path: outline.shortened(value, LONGEST_REPEATED if path.startswith(REPEATED) else LONGEST)
        for path, value in outputs.items()
    }


def _judged() -> tuple[Study, User]:
    """The demo study, judged; its own analysis is not awaited, since it takes many resamples."""
    demo = setup.set_up(now=NOW)
    fixed.number(demo.study)
    judged = lifecycle.wait(Run.objects.get(study=demo.study, kind="demo.judge"))
    assert judged.state == RunState.DONE, judged.error
    Run.objects.filter(study=demo.study, kind="analysis").delete()
    return demo.study, User.objects.get(email=demo.email)


def _results(study: Study, folder: Path) -> dict[str, Any]:
    """What `crowdrag analyse` writes: tables, figures, the report, and what is said of them."""
    options = [f"--{name}={value}" for name, value in PARAMETERS.items()]
    # Drawings are not compared, and take long.
    with mock.patch("vl_convert.vegalite_to_png", return_value=b""):
        call_command(
            "analyse", study.slug, f"--out={folder}", f"--seed={SEED}", "--with=all", *options, stdout=io.StringIO()
        )
    return dict(_of_folder(folder))


def _of_folder(folder: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and (found := _output(name, path.read_bytes())):
            yield found


def _output(name: str, content: bytes) -> tuple[str, Any] | None:
    """Return a file as it is compared, under its golden file's name; None for what is not compared."""
    if name.startswith(PICTURES) and not name.endswith(".json"):
        return None
    stem, _dot, ending = name.removesuffix(".gz").rpartition(".")
    content = gzip.decompress(content) if name.endswith(".gz") else content
    if ending == "json":
        return name, json.loads(readable.chart(content.decode()))
    if ending == "jsonl":
        return f"{stem}.json", [json.loads(line) for line in content.splitlines()]
    if ending == "html":
        return f"{name}.txt", readable.html(content)
    if ending == "pdf":
        return f"{name}.txt", readable.pdf(content)
    if ending == "parquet":
        return f"{name}.json", _parquet(content)
    if name.startswith(REPEATED) and content.count(b"\n") > LONGEST_REPEATED:
        return f"{name}.json", list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    if stem == "" and name == "SHA256SUMS":
        return name, "".join(sorted(f"{line.split()[1]}\n" for line in content.decode().splitlines()))
    return name, content.decode()


def _parquet(content: bytes) -> Any:
    """The types and meanings of the columns, and the rows."""
    table = pq.read_table(io.BytesIO(content))
    columns = {
        field.name: {"type": str(field.type), "nullable": field.nullable}
        | {key.decode(): text.decode() for key, text in (field.metadata or {}).items()}
        for field in table.schema
    }
    return {"columns": columns, "rows": json.loads(json.dumps(table.to_pylist(), default=str))}


def _exported(study: Study, format_: str, folder: Path) -> dict[str, Any]:
    """What `crowdrag export` writes: each member of the archive."""
    path = folder / f"{format_}.zip"
    call_command("export", study.slug, f"--format={format_}", f"--out={path}", stdout=io.StringIO())
    with zipfile.ZipFile(path) as packed:
        found = (_output(name, packed.read(name)) for name in sorted(packed.namelist()))
        return dict(each for each in found if each)


def _releases(study: Study) -> dict[str, dict[str, Any]]:
    """Two versions: one that holds all that can be released, and one that holds little, and says what is new in it."""
    run = str(Run.objects.get(study=study, kind="analysis").key)
    much = Choices(
        passages=Passages.TEXTS, passage_terms="CC0-1.0", excluded=True, logs=Logs.FULL, comments=True, tables=True,
        runs=(run,), timing=Timing.EXACT,
    )  # fmt: skip
    little = Choices(
        passages=Passages.IDS, logs=Logs.MEASURES, timing=Timing.ABSENT, pseudonyms=Pseudonyms.STABLE, judgments=False
    )
    found = {"release-1": _release(study, much), "release-2": _release(study, little)}
    found["release-2"] = {path: value for path, value in found["release-2"].items() if not path.startswith(TWICE)}
    return found


def _release(study: Study, choices: Choices) -> dict[str, Any]:
    release = services.create(study=study, choices=choices, title="Demo", now=NOW)
    run = lifecycle.wait(builds.start(release=release, now=NOW))
    assert run.state == RunState.DONE, run.error
    release = services.publish(release=Release.objects.get(pk=release.pk), now=NOW)
    outputs = {}
    for file in release.files.all():
        with file.file.open("rb") as opened:
            if found := _output(file.path, opened.read()):
                outputs[found[0]] = found[1]
    return outputs


def _pages(study: Study, user: User) -> dict[str, Any]:
    client = Client()
    client.force_login(user)
    addresses = {name: reverse(name, args=[study.slug]) for name in (
        "results", "competence", "grades", "leaderboard", "pairs", "report", "analyses", "order_effects",
        "model_judge_results", "writing_results", "reference_metrics", "planner", "experiments", "releases", "exports",
    )}  # fmt: skip
    judge = Participant.objects.filter(study=study, assignments__judgments__isnull=False).order_by("pk").first()
    pair = Pair.objects.filter(study=study).order_by("pk").first()
    addresses["participant_results"] = reverse("participant_results", args=[study.slug, judge.pk])
    addresses["pair"] = reverse("pair", args=[study.slug, pair.pk])
    addresses["release"] = reverse("release", args=[study.slug, 1])
    addresses["public_release"] = reverse("public_release", args=[study.slug, 2])
    addresses["public_releases"] = reverse("public_releases")
    found = {}
    for name, address in addresses.items():
        answer = client.get(address)
        assert answer.status_code == 200, address
        # Around all pages is the same: that is compared once.
        content = answer.content if name == "results" else _main(answer.content)
        found[f"{name}.txt"] = readable.html(content)
    return found


def _main(page: bytes) -> bytes:
    start = page.index(b"<main")
    return page[start : page.index(b"</main>", start)]
