"""What the pages of releases show: a study's own, the public ones, and how to load and cite one."""

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

#: The tables whose rows are figures of their own, with their names in the singular and the plural.
COUNTED = (
    ("topics", ("topic", "topics")),
    ("responses", ("response", "responses")),
    ("judgments", ("judgment", "judgments")),
    ("grades", ("grade", "grades")),
    ("log_events", ("writing event", "writing events")),
)
#: Which table an example loads, if it holds something.
FIRST = ("responses", "judgments", "topics")


def figures(release: Release) -> list[tuple[str, int]]:
    """Return how much is in it, with names; what is not there is not named."""
    rows = release.figures.get("rows", {})
    # Models and systems that wrote are counted with the people, as in the table of participants.
    people = release.figures.get("people", 0)
    counts = [(("participant" if people == 1 else "participants"), people)]
    counts += [(one if rows.get(table) == 1 else many, rows.get(table, 0)) for table, (one, many) in COUNTED]
    return [(name, n) for name, n in counts if n]


def changes(release: Release) -> dict[str, Any] | None:
    """Return the differences from the version before, as Markdown; None where there are none."""
    if not (recorded := release.figures.get("changes")):
        return None
    return {"since": recorded["since"], "text": "\n".join(f"- {difference}" for difference in recorded["found"])}


def terms(release: Release) -> dict[str, Any]:
    """Return under which licences it is."""
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
    """Return how to cite a release that is built: as a line, and as BibTeX; its files say the same."""
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
    """Return lines to be copied that load a table from the address of the files, and one that gets all of them.

    None where no table can be loaded: nothing is in it, or what was in it is gone.
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
    # Paths of files in a release are names of ours: no shell reads anything else in them.
    got = "curl -fsS --create-dirs -o"
    return (
        f"{got} {folder}/SHA256SUMS {base}SHA256SUMS && cut -c67- {folder}/SHA256SUMS"
        f" | xargs -I@ {got} {folder}/@ {base}@ && (cd {folder} && sha256sum --check --quiet SHA256SUMS)"
    )


PAGE = 25
FINDINGS = 20
#: A text with more characters gets a wide column.
LONG = 30
#: So many finished runs are offered, the latest ones.
RUNS = 30
#: What the folders of files are for, in the order in which they are shown: first what describes the release.
FOLDERS = {"": ""} | {form.folder: form.purpose for form in FORMATS}

#: What was not taken out since.
STANDS = Q(removed_at__isnull=True)

latest = releases_services.latest


def listing(study: Study, page: str | None) -> dict[str, Any]:
    """Return what the list of a study's releases shows."""
    releases = Release.objects.filter(study=study).select_related("run").newest_first()
    releases = releases.annotate(file_count=Count("files"), bytes=Sum("files__size"))
    return {"page": Paginator(releases, PAGE).get_page(page), "now": timezone.now()}


def one(release: Release, *, now: datetime) -> dict[str, Any]:
    """Return what the page of a release shows to members of its study."""
    return public(release, now=now, shows_rows=True) | {
        "chosen": chosen(Choices.from_json(release.choices)),
        "waiting": waiting(release),
        "links": release.links.select_related("created_by").order_by("-created_at", "-id"),
        "may_link": release.state in releases_services.SHOWN,
    }


def public(release: Release, *, now: datetime, shows_rows: bool) -> dict[str, Any]:
    """Return what the page of a release shows to everybody; rows and files only where they may be seen."""
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
    """Return the public list of releases: of each study the latest version that was not withdrawn."""
    shown = Release.objects.filter(state__in=(ReleaseState.PUBLISHED, ReleaseState.MARKED))
    later = shown.filter(study=OuterRef("study"), number__gt=OuterRef("number"))
    latest_releases = shown.exclude(Exists(later)).select_related("study").order_by("-published_at", "-id")
    return {"page": Paginator(latest_releases, PAGE).get_page(page)}


def versions(release: Release) -> list[Release]:
    """Return all versions of a release that the public knows of, the latest first."""
    return list(Release.objects.filter(study=release.study_id).public().newest_first())


def grouped(files: Iterable[ReleaseFile]) -> Iterable[dict[str, Any]]:
    """Yield files by their folder with its size and what it is for; what is for reading first."""
    folders: dict[str, list[ReleaseFile]] = {}
    for file in files:
        folder, slash, _name = file.path.partition("/")
        folders.setdefault(folder if slash else "", []).append(file)
    order = {name: i for i, name in enumerate(FOLDERS)}
    for name in sorted(folders, key=lambda folder: (order.get(folder, len(order)), folder)):
        size = sum(file.size for file in folders[name])
        yield {"folder": name, "files": folders[name], "bytes": size, "about": FOLDERS.get(name, "")}


def waiting(release: Release) -> int:
    """Return how many places in the texts that a release would hold wait for a decision."""
    where = detection.sources(Choices.from_json(release.choices))
    return personal_data_services.undecided(release.study, where)


def findings(study: Study, *, page: str | None, only_open: bool) -> dict[str, Any]:
    """Return places in texts that look like personal data, a page of them, with the text around each."""
    findings_of_study = (
        PersonalDataFinding.objects.filter(study=study).select_related("participant", "decided_by").in_order()
    )
    counts = findings_of_study.order_by().aggregate(all=Count("pk"), open=Count("pk", filter=Q(verdict="")))
    shown: Page[Any] = Paginator(findings_of_study.undecided() if only_open else findings_of_study, FINDINGS).get_page(
        page
    )
    return {"page": shown, "rows": personal_data_services.shown(shown), "counts": counts, "only_open": only_open}


def chosen(choices: Choices) -> list[tuple[str, str]]:
    """Return what was chosen, in words."""
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
    """Return the finished runs that made tables, by key, with words to tell them apart."""
    result_tables = ResultTable.objects.filter(run=OuterRef("pk"))
    done = Run.objects.filter(Exists(result_tables), study=study, state=RunState.DONE, stale_at__isnull=True)
    return [(str(run.key), kinds.run_reference(run)) for run in done.newest_first()[:RUNS]]


def latest_analysis(study: Study) -> list[str]:
    """Return the key of the latest finished analysis, if there is one that is not stale."""
    done = Run.objects.filter(study=study, kind=ANALYSIS, state=RunState.DONE, stale_at__isnull=True)
    return [str(run.key) for run in done.newest_first()[:1]]


def _table(table: ReleaseTable, *, shows_rows: bool) -> dict[str, Any]:
    """A table; that of the responses is open, as it says best what this is."""
    preview = _preview(table) if shows_rows else None
    return {"table": table, "preview": preview, "opens": bool(preview) and table.name == FIRST[0]}


def _preview(table: Any) -> dict[str, Any] | None:
    if not table.preview:
        return None
    names = [column["name"] for column in table.columns]
    rows = [[(value, _is_long(value)) for value in map(row.get, names)] for row in table.preview]
    return {"names": names, "rows": rows}


def _is_long(value: Any) -> bool:
    # A text is given room; a key or a digest, which has no blank, is not.
    return isinstance(value, str) and len(value) > LONG and " " in value


def release_part(study: Study) -> StepPart:
    """Say for the study's checklist whether a release is published."""
    latest = Release.objects.filter(study=study).exclude(state=ReleaseState.WITHDRAWN).order_by("-number").first()
    if latest is None:
        return StepPart(
            "No release yet",
            Progress.TO_DO,
            Action("Create a release", reverse("release_new", args=[study.slug])),
        )
    if latest.state in PUBLIC_RELEASES:
        return StepPart(f"Version {latest.number} is published", Progress.DONE)
    action = Action("Continue the release", reverse("release", args=[study.slug, latest.number]))
    return StepPart(f"Version {latest.number} is not published yet", Progress.STARTED, action)


def publications(study: Study) -> Iterator[str]:
    """Say that releases are published, which others may cite."""
    if Release.objects.filter(study=study).public().exists():
        yield "The study has a published release, which others may cite. Archive the study instead."
