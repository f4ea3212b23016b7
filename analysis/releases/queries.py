"""Data for the pages of releases: of a study, public, and how to load and cite a release."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.urls import reverse
from django.utils import timezone

from crowdrag.jobs import kinds
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.checklist import Action, Progress, StepPart
from crowdrag.studies.models import Study

from ..enums import PUBLIC_RELEASES, ReleaseState
from ..tables.models import ResultTable
from ..tables.run_tables import ANALYSIS
from . import services as releases_services
from .choices import Choices
from .formats import citation
from .formats.about import About, Creator
from .formats.release_formats import FORMATS
from .models import Release, ReleaseFile, ReleaseTable
from .personal_data import detection
from .personal_data import services as personal_data_services
from .personal_data.models import PersonalDataFinding

#: Tables whose numbers of rows are key figures, with singular and plural labels.
COUNTED = (
    ("topics", ("topic", "topics")),
    ("responses", ("response", "responses")),
    ("judgments", ("judgment", "judgments")),
    ("grades", ("grade", "grades")),
    ("log_events", ("writing event", "writing events")),
)
#: Table loaded in the example: the first that has rows.
FIRST = ("responses", "judgments", "topics")


def figures(release: Release) -> list[tuple[str, int]]:
    """Return the numbers of contents with labels, without zeros."""
    rows = release.figures.get("rows", {})
    # Models and systems that wrote are included, as in the table of participants.
    people = release.figures.get("people", 0)
    counts = [(("participant" if people == 1 else "participants"), people)]
    counts += [(one if rows.get(table) == 1 else many, rows.get(table, 0)) for table, (one, many) in COUNTED]
    return [(name, n) for name, n in counts if n]


def changes(release: Release) -> dict[str, Any] | None:
    """Return the differences from the previous version in Markdown; None if there are none."""
    if not (recorded := release.figures.get("changes")):
        return None
    return {"since": recorded["since"], "text": "\n".join(f"- {difference}" for difference in recorded["found"])}


def terms(release: Release) -> dict[str, Any]:
    """Return the licences."""
    choices = Choices.from_json(release.choices)
    main = choices.licence or release.study.text_licence
    others = set(release.figures.get("licences", [])) - {main}
    named = (
        ("Writing logs", choices.log_licence),
        ("Times", choices.timing_licence),
        ("Passages", choices.passage_terms),
    )
    return {
        "licence": citation.licence_of(main),
        "other_licences": sorted(others),
        "other_terms": [(what, terms_named) for what, terms_named in named if terms_named and terms_named != main],
    }


def citing(release: Release, *, address: str) -> dict[str, str]:
    """Return how to cite a built release, as a line and as BibTeX; its files contain the same."""
    assert release.run is not None, "a check of the table"
    about = About(
        slug=release.study.slug,
        version=release.number,
        title=release.title,
        released=release.run.created_at.date(),
        licence="",
        creators=tuple(Creator(**creator) for creator in release.creators),
        doi=release.doi,
        address=release.run.parameters.get("address") or address,
    )
    return {"sentence": citation.sentence(about), "bibtex": citation.bibtex(about)}


def loading(release: Release, *, base: str) -> dict[str, Any] | None:
    """Return code that loads a table from the URL of the files, and a command that downloads everything.

    None if no table can be loaded because the release has none or they were removed.
    """
    files = dict(release.files.values_list("path", "removed_at"))
    present = {path for path, removed_at in files.items() if removed_at is None}
    if not (table := _first_table(release.figures.get("rows", {}), present)):
        return None
    at = f"{base}parquet/{table}.parquet"
    lines = [
        ("datasets", f'import datasets; {table} = datasets.load_dataset("parquet", data_files="{at}", split="train")'),
        ("pandas", f'import pandas; {table} = pandas.read_parquet("{at}")'),
        ("DuckDB", f"SELECT * FROM '{at}';"),  # noqa: S608 -- an example to read
    ]
    if len(present) < len(files):
        return {"table": table, "lines": lines}
    folder = f"{release.study.slug}-v{release.number}"
    whole = f'import datasets; {table} = datasets.load_dataset("{folder}", "{table}", split="train")'
    return {"table": table, "lines": lines, "everything": _everything(folder, base), "folder": whole}


def _first_table(rows: dict[str, int], present: Collection[str]) -> str:
    names = [*FIRST, *(name for name in rows if name not in FIRST)]
    return next((name for name in names if rows.get(name) and f"parquet/{name}.parquet" in present), "")


def _everything(folder: str, base: str) -> str:
    # Paths of files in a release contain no characters that are special in shells.
    got = "curl -fsS --create-dirs -o"
    return (
        f"{got} {folder}/SHA256SUMS {base}SHA256SUMS && cut -c67- {folder}/SHA256SUMS"
        f" | xargs -I@ {got} {folder}/@ {base}@ && (cd {folder} && sha256sum --check --quiet SHA256SUMS)"
    )


PAGE = 25
FINDINGS = 20
#: Longer texts get a wide column.
LONG = 30
#: Number of latest finished runs offered.
RUNS = 30
#: Purposes of folders, in display order; documentation first.
FOLDERS = {"": ""} | {form.folder: form.purpose for form in FORMATS}

#: Files that were not removed.
STANDS = Q(removed_at__isnull=True)

latest = releases_services.latest


def listing(study: Study, page: str | None) -> dict[str, Any]:
    """Return the context of a study's list of releases."""
    releases = Release.objects.filter(study=study).select_related("run").newest_first()
    releases = releases.annotate(file_count=Count("files"), bytes=Sum("files__size"))
    return {"page": Paginator(releases, PAGE).get_page(page), "now": timezone.now()}


def one(release: Release, *, now: datetime) -> dict[str, Any]:
    """Return the context of a release's page for members of its study."""
    return public(release, now=now, shows_rows=True) | {
        "chosen": chosen(Choices.from_json(release.choices)),
        "waiting": waiting(release),
        "links": release.links.select_related("created_by").order_by("-created_at", "-id"),
        "may_link": release.state in releases_services.SHOWN,
    }


def public(release: Release, *, now: datetime, shows_rows: bool) -> dict[str, Any]:
    """Return the context of a release's public page; rows and files only if they are public."""
    tables = list(release.tables.order_by("position"))
    return {
        "release": release,
        "released_study": release.study,
        "tables": [_table(table, shows_rows=shows_rows) for table in tables],
        "files": list(grouped(release.files.order_by("path"))),
        "totals": release.files.aggregate(
            bytes=Sum("size"), files=Count("pk"), gone=Count("removed_at"), there=Sum("size", filter=STANDS)
        ),
        "is_embargoed": releases_services.is_embargoed(release, now),
        "newer": releases_services.newer(release) if release.state in PUBLIC_RELEASES else None,
        **terms(release),
        "figures": figures(release),
        "changes": changes(release),
    }


def index(page: str | None) -> dict[str, Any]:
    """Return the public list of releases: the latest version of each study that was not withdrawn."""
    shown = Release.objects.filter(state__in=(ReleaseState.PUBLISHED, ReleaseState.MARKED))
    later = shown.filter(study=OuterRef("study"), number__gt=OuterRef("number"))
    latest_releases = shown.exclude(Exists(later)).select_related("study").order_by("-published_at", "-id")
    return {"page": Paginator(latest_releases, PAGE).get_page(page)}


def versions(release: Release) -> list[Release]:
    """Return all public versions of a release, the latest first."""
    return list(Release.objects.filter(study=release.study_id).public().newest_first())


def grouped(files: Iterable[ReleaseFile]) -> Iterable[dict[str, Any]]:
    """Yield files by folder with its size and purpose; documentation comes first."""
    folders: dict[str, list[ReleaseFile]] = {}
    for file in files:
        folder, slash, _name = file.path.partition("/")
        folders.setdefault(folder if slash else "", []).append(file)
    order = {name: i for i, name in enumerate(FOLDERS)}
    for name in sorted(folders, key=lambda folder: (order.get(folder, len(order)), folder)):
        size = sum(file.size for file in folders[name])
        yield {"folder": name, "files": folders[name], "bytes": size, "about": FOLDERS.get(name, "")}


def waiting(release: Release) -> int:
    """Return the number of undecided findings in the texts of a release."""
    where = detection.sources(Choices.from_json(release.choices))
    return personal_data_services.undecided(release.study, where)


def findings(study: Study, *, page: str | None, only_open: bool) -> dict[str, Any]:
    """Return a page of findings of possible personal data, with the surrounding text."""
    findings_of_study = (
        PersonalDataFinding.objects.filter(study=study).select_related("participant", "decided_by").in_order()
    )
    counts = findings_of_study.order_by().aggregate(all=Count("pk"), open=Count("pk", filter=Q(verdict="")))
    shown: Page[Any] = Paginator(findings_of_study.undecided() if only_open else findings_of_study, FINDINGS).get_page(
        page
    )
    return {"page": shown, "rows": personal_data_services.shown(shown), "counts": counts, "only_open": only_open}


def chosen(choices: Choices) -> list[tuple[str, str]]:
    """Describe the choices in words."""
    parts = {
        "Topics": choices.topics,
        "Responses": choices.responses,
        "Excluded data, marked": choices.excluded,
        "Surveys": choices.responses and choices.surveys,
        "Judgments": choices.judgments,
        "Judges' justifications": choices.judgments and choices.justifications,
        "Comments": choices.judgments and choices.comments,
        "Gold labels": choices.gold and bool(choices.runs),
        "Grades": choices.grades and bool(choices.runs),
        "Other result tables": choices.tables and bool(choices.runs),
    }
    return [
        ("Included", ", ".join(name for name, holds in parts.items() if holds) or "–"),
        ("Passages", str(choices.passages.label)),
        ("Writing logs", str(choices.logs.label)),
        ("Times", str(choices.timing.label)),
        ("Pseudonyms", str(choices.pseudonyms.label)),
    ]


def run_choices(study: Study) -> list[tuple[str, str]]:
    """Return the finished runs with tables, by key, with distinguishing labels."""
    result_tables = ResultTable.objects.filter(run=OuterRef("pk"))
    done = Run.objects.filter(Exists(result_tables), study=study, state=RunState.DONE, stale_at__isnull=True)
    return [(str(run.key), kinds.run_reference(run)) for run in done.newest_first()[:RUNS]]


def latest_analysis(study: Study) -> list[str]:
    """Return the key of the latest finished analysis, unless it is stale."""
    done = Run.objects.filter(study=study, kind=ANALYSIS, state=RunState.DONE, stale_at__isnull=True)
    return [str(run.key) for run in done.newest_first()[:1]]


def _table(table: ReleaseTable, *, shows_rows: bool) -> dict[str, Any]:
    """Return a table; that of the responses is expanded, because it best shows what the release contains."""
    preview = _preview(table) if shows_rows else None
    return {"table": table, "preview": preview, "opens": bool(preview) and table.name == FIRST[0]}


def _preview(table: Any) -> dict[str, Any] | None:
    if not table.preview:
        return None
    names = [column["name"] for column in table.columns]
    rows = [[(value, _is_long(value)) for value in map(row.get, names)] for row in table.preview]
    return {"names": names, "rows": rows}


def _is_long(value: Any) -> bool:
    # Long texts get more space, but not keys or digests, which contain no space.
    return isinstance(value, str) and len(value) > LONG and " " in value


def release_part(study: Study) -> StepPart:
    """Return whether a release is published, for the study's checklist."""
    latest = Release.objects.filter(study=study).exclude(state=ReleaseState.WITHDRAWN).order_by("-number").first()
    if latest is None:
        return StepPart(
            "No release yet",
            Progress.TO_DO,
            Action("Create a release", reverse("release_new", args=[study.slug])),
        )
    if latest.state in PUBLIC_RELEASES:
        return StepPart(f"Release {latest.number} is published", Progress.DONE)
    action = Action("Continue the release", reverse("release", args=[study.slug, latest.number]))
    return StepPart(f"Release {latest.number} is not published yet", Progress.STARTED, action)


def publications(study: Study) -> Iterator[str]:
    """Name the published releases, which others may have cited."""
    if Release.objects.filter(study=study).public().exists():
        yield "The study has a published release, which others may cite. Archive the study instead."
