"""What the page of a release says to whoever came by a link in a paper: how much it is, how to load it, how to cite it,
under which terms, and what is new."""

from collections.abc import Collection
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, ngettext_lazy

from ...models import Release
from ..releases.choices import Choices
from ..releases.formats import citation, licence
from ..releases.formats.about import About, Creator

#: The tables whose rows are figures of their own, with their names.
COUNTED = (
    ("topics", ngettext_lazy("topic", "topics", "n")),
    ("responses", ngettext_lazy("response", "responses", "n")),
    ("judgments", ngettext_lazy("judgment", "judgments", "n")),
    ("grades", ngettext_lazy("grade", "grades", "n")),
    ("log_events", ngettext_lazy("event of writing", "events of writing", "n")),
)
#: Which table an example loads, if it holds something.
FIRST = ("responses", "judgments", "topics")
#: What the folders of files are for.
FORMATS = {
    "parquet": gettext_lazy("with types, for programs"),
    "jsonl": gettext_lazy("every text exactly as it is"),
    "csv": gettext_lazy("for spreadsheets"),
    "trec": gettext_lazy("for tools of information retrieval"),
    "crowdrag25": gettext_lazy("laid out as the CrowdRAG-25 corpus"),
}


def figures(release: Release) -> list[tuple[str, int]]:
    """Return how much is in it, with names; what is not there is not named."""
    rows = release.figures.get("rows", {})
    # Models and systems that wrote are counted with the people, as in the table of participants.
    people = release.figures.get("people", 0)
    found = [(ngettext("participant", "participants", people), people)]
    found += [(label % {"n": rows.get(table, 0)}, rows.get(table, 0)) for table, label in COUNTED]
    return [(name, n) for name, n in found if n]


def changes(release: Release) -> dict[str, Any] | None:
    """Return what differs from the version before, as Markdown; None where there is none, or nobody compared."""
    if not (found := release.figures.get("changes")):
        return None
    return {"since": found["since"], "text": "\n".join(f"- {each}" for each in found["found"])}


def terms(release: Release) -> dict[str, Any]:
    """Return under which licences it is."""
    choices = Choices.from_json(release.choices)
    main = choices.licence or release.study.text_licence
    others = set(release.figures.get("licences", [])) - {main}
    named = (
        (_("Writing logs"), choices.log_licence),
        (_("Times"), choices.timing_licence),
        (_("Passages"), choices.passage_terms),
    )
    return {
        "licence": licence.of(main),
        "other_licences": sorted(others),
        "other_terms": [(what, said) for what, said in named if said and said != main],
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
        creators=tuple(Creator(**each) for each in release.creators),
        doi=release.doi,
        address=release.run.parameters.get("address") or address,
    )
    return {"sentence": citation.sentence(about), "bibtex": citation.bibtex(about)}


def loading(release: Release, *, base: str) -> dict[str, Any] | None:
    """Return lines to be copied that load a table from the address of the files, and one that gets all of them.

    None where no table can be loaded: nothing is in it, or what was in it is gone.
    """
    files = dict(release.files.values_list("path", "removed_at"))
    there = {path for path, removed_at in files.items() if removed_at is None}
    if not (table := _table(release.figures.get("rows", {}), there)):
        return None
    at = f"{base}parquet/{table}.parquet"
    lines = [
        ("datasets", f'import datasets; {table} = datasets.load_dataset("parquet", data_files="{at}", split="train")'),
        ("pandas", f'import pandas; {table} = pandas.read_parquet("{at}")'),
        ("DuckDB", f"SELECT * FROM '{at}';"),  # noqa: S608 -- an example to read
    ]
    if len(there) < len(files):
        return {"table": table, "lines": lines}
    folder = f"{release.study.slug}-v{release.number}"
    whole = f'import datasets; {table} = datasets.load_dataset("{folder}", "{table}", split="train")'
    return {"table": table, "lines": lines, "everything": _everything(folder, base), "folder": whole}


def _table(rows: dict[str, int], there: Collection[str]) -> str:
    names = [*FIRST, *(name for name in rows if name not in FIRST)]
    return next((name for name in names if rows.get(name) and f"parquet/{name}.parquet" in there), "")


def _everything(folder: str, base: str) -> str:
    # Paths of files in a release are names of ours: no shell reads anything else in them.
    got = "curl -fsS --create-dirs -o"
    return (
        f"{got} {folder}/SHA256SUMS {base}SHA256SUMS && cut -c67- {folder}/SHA256SUMS"
        f" | xargs -I@ {got} {folder}/@ {base}@ && (cd {folder} && sha256sum --check --quiet SHA256SUMS)"
    )
