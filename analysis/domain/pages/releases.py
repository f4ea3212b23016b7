"""What the pages of releases show: a study's own, and the public ones."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from crowdrag.jobs import kinds
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ...enums import PUBLIC_RELEASES, ReleaseState
from ...models import PersonalFinding, Release, ReleaseFile, ReleaseTable, Table
from .. import analysing
from ..releases import drafting, linking, publishing
from ..releases.choices import Choices
from ..releases.personal import deciding, searching
from . import released

PAGE = 25
FINDINGS = 20
#: A text with more characters gets a wide column.
LONG = 30
#: So many finished runs are offered, the latest ones.
RUNS = 30
#: What the kinds of files are called, by their folder, in the order in which they are shown.
FOLDERS = ("", "jsonl", "parquet", "csv", "trec", "crowdrag25")

#: What was not taken out since.
STANDS = Q(removed_at__isnull=True)

latest = drafting.latest


def listing(study: Study, page: str | None) -> dict[str, Any]:
    """Return what the list of a study's releases shows."""
    found = Release.objects.filter(study=study).select_related("run").newest_first()
    found = found.annotate(file_count=Count("files"), bytes=Sum("files__size"))
    return {"page": Paginator(found, PAGE).get_page(page), "now": timezone.now()}


def one(release: Release, *, now: datetime) -> dict[str, Any]:
    """Return what the page of a release shows to members of its study."""
    return public(release, now=now, shows_rows=True) | {
        "chosen": chosen(Choices.from_json(release.choices)),
        "waiting": waiting(release),
        "links": release.links.select_related("created_by").order_by("-created_at", "-id"),
        "may_link": release.state in linking.SHOWN,
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
        "is_embargoed": publishing.is_embargoed(release, now),
        "newer": publishing.newer(release) if release.state in PUBLIC_RELEASES else None,
        **released.terms(release),
        "figures": released.figures(release),
        "changes": released.changes(release),
    }


def index(page: str | None) -> dict[str, Any]:
    """Return the public list of releases: of each study the latest version that was not withdrawn."""
    shown = Release.objects.filter(state__in=(ReleaseState.PUBLISHED, ReleaseState.MARKED))
    later = shown.filter(study=OuterRef("study"), number__gt=OuterRef("number"))
    found = shown.exclude(Exists(later)).select_related("study").order_by("-published_at", "-id")
    return {"page": Paginator(found, PAGE).get_page(page)}


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
    for name in sorted(folders, key=lambda each: (order.get(each, len(order)), each)):
        size = sum(file.size for file in folders[name])
        yield {"folder": name, "files": folders[name], "bytes": size, "about": released.FORMATS.get(name, "")}


def waiting(release: Release) -> int:
    """Return how many places in the texts that a release would hold wait for a decision."""
    where = searching.sources(Choices.from_json(release.choices))
    return deciding.undecided(release.study, where)


def findings(study: Study, *, page: str | None, only_open: bool) -> dict[str, Any]:
    """Return places in texts that look like personal data, a page of them, with the text around each."""
    found = PersonalFinding.objects.filter(study=study).select_related("participant", "decided_by").in_order()
    counts = found.order_by().aggregate(all=Count("pk"), open=Count("pk", filter=Q(verdict="")))
    shown: Page[Any] = Paginator(found.undecided() if only_open else found, FINDINGS).get_page(page)
    return {"page": shown, "rows": deciding.shown(shown), "counts": counts, "only_open": only_open}


def chosen(choices: Choices) -> list[tuple[str, str]]:
    """Return what was chosen, in words."""
    parts = {
        _("Topics"): choices.topics,
        _("Responses"): choices.responses,
        _("Excluded ones, marked"): choices.excluded,
        _("Surveys"): choices.responses and choices.surveys,
        _("Judgments"): choices.judgments,
        _("Judges' reasons"): choices.judgments and choices.justifications,
        _("Comments"): choices.judgments and choices.comments,
        _("Gold labels"): choices.gold and bool(choices.runs),
        _("Grades"): choices.grades and bool(choices.runs),
        _("Other result tables"): choices.tables and bool(choices.runs),
    }
    return [
        (_("In it"), ", ".join(name for name, holds in parts.items() if holds) or "–"),
        (_("Passages"), str(choices.passages.label)),
        (_("Writing logs"), str(choices.logs.label)),
        (_("Times"), str(choices.timing.label)),
        (_("Pseudonyms"), str(choices.pseudonyms.label)),
    ]


def run_choices(study: Study) -> list[tuple[str, str]]:
    """Return the finished runs that made tables, by key, with words to tell them apart."""
    made = Table.objects.filter(run=OuterRef("pk"))
    done = Run.objects.filter(Exists(made), study=study, state=RunState.DONE, stale_at__isnull=True)
    return [(str(run.key), kinds.run_reference(run)) for run in done.newest_first()[:RUNS]]


def latest_analysis(study: Study) -> list[str]:
    """Return the key of the latest finished analysis, if there is one that is not stale."""
    done = Run.objects.filter(study=study, kind=analysing.KIND, state=RunState.DONE, stale_at__isnull=True)
    return [str(run.key) for run in done.newest_first()[:1]]


def _table(table: ReleaseTable, *, shows_rows: bool) -> dict[str, Any]:
    """A table; that of the responses is open, as it says best what this is."""
    preview = _preview(table) if shows_rows else None
    return {"table": table, "preview": preview, "opens": bool(preview) and table.name == released.FIRST[0]}


def _preview(table: Any) -> dict[str, Any] | None:
    if not table.preview:
        return None
    names = [column["name"] for column in table.columns]
    rows = [[(value, _is_long(value)) for value in map(row.get, names)] for row in table.preview]
    return {"names": names, "rows": rows}


def _is_long(value: Any) -> bool:
    # A text is given room; a key or a digest, which has no blank, is not.
    return isinstance(value, str) and len(value) > LONG and " " in value
