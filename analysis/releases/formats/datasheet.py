"""The datasheet: the questions of Gebru et al. (Datasheets for Datasets, 2021), answered as far as the system can.

Only the researcher knows why the data were collected and how else they were used; the description says so.
"""

from typing import Any

from ..choices import Choices
from ..contents.selection import Making
from . import card, markup
from .about import About

Manifest = dict[str, Any]


def write(about: About, manifest: Manifest) -> str:
    """Return DATASHEET.md."""
    parts = [f"# Datasheet of {markup.line(about.title)}, version {about.version}"]
    for title, questions in _sections(about, manifest):
        parts.append(f"## {title}")
        for question, answer in questions:
            parts += [f"**{question}**", answer]
    return "\n\n".join(parts) + "\n"


def _sections(about: About, manifest: Manifest) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        ("Motivation", _motivation(about)),
        ("Composition", _composition(about, manifest)),
        ("Collection", _collection(about, manifest)),
        ("Preprocessing, cleaning, labelling", _labelling(about, manifest)),
        ("Uses", _uses()),
        ("Distribution and maintenance", _distribution(about, manifest)),
    ]


def _motivation(about: About) -> list[tuple[str, str]]:
    why = markup.paragraphs(about.description) or "The creators of the study did not state a purpose."
    who = "; ".join(
        markup.line(f"{creator.name} ({creator.affiliation})" if creator.affiliation else creator.name)
        for creator in about.creators
    )
    return [
        ("For what purpose was the dataset created?", why),
        ("Who created it?", who or markup.line(about.makers)),
    ]


def _composition(about: About, manifest: Manifest) -> list[tuple[str, str]]:
    counts = "\n".join(
        f"- {markup.code(table['name'])}: {markup.count_rows(table['rows'])}. {markup.line(table['meaning'])}"
        for table in manifest["tables"]
    )
    nobody = "None: the study's crowd is simulated." if about.is_simulated else _PEOPLE[about.choices.pseudonyms.value]
    return [
        ("What do the instances represent, and how many are there?", counts or "There are no instances."),
        (
            "Does the dataset contain all possible instances?",
            "It contains the data of the study that its creators chose and that may be released. Left out:\n\n"
            + card.left_out(about),
        ),
        ("Is any information missing?", f"FIELDS.md marks fields that may be empty. {_chosen(about.choices)}"),
        ("Does it relate to people, and can they be identified?", nobody),
        (
            "Does it contain data that might be offensive?",
            "Texts are as people and models wrote them, and passages are as retrieved. Nobody edited them.",
        ),
    ]


_SEARCHED = "Free text was searched for personal data, and a researcher decided on each finding."
_PEOPLE = {
    "FRESH": (
        "Participants have pseudonyms that were created for this release. They cannot be linked to other releases or "
        f"to the study. {_SEARCHED}"
    ),
    "STABLE": (
        "Participants have the study's pseudonyms, which are the same in each of its releases and reveal no platform "
        f"IDs. {_SEARCHED}"
    ),
}
_TEXTS = {
    Making.WRITTEN_HERE: "People wrote texts on a query{passages}, in an editor that records the writing process.",
    Making.GENERATED: "Language models wrote texts on a query{passages}.",
    Making.IMPORTED: "Texts on a query that were written elsewhere were imported.",
}
_JUDGED = (
    "People (and models, where tables say so) judged single texts or pairs of texts on several dimensions in "
    "questionnaires."
)
_CONSENT = (
    "Participants read a consent text that states what is recorded and what may be released under "
    "which licence. They agreed to each part separately. This release contains only data with valid "
    "consent. There is no recorded consent for data from a corpus that was already public."
)
_WITHDRAWN = (
    "Yes, at any time and without an account. The data are then erased, this release is marked, and "
    "the next version does not contain them."
)
_COMPUTED = (
    "Judgments are as given. Labels, grades and result tables were computed from them by these runs. "
    "Their parameters are in `release.json`:"
)
_GOOD_FOR = (
    "Evaluation of retrieval-augmented generation: rankings of systems, comparison of metrics with "
    "people's judgments, and models as judges. With writing logs: how people write from sources."
)
_NOT_FOR = (
    "Identifying participants by style, timing or otherwise. Evaluating single participants. "
    "Comparing grades of texts on different topics."
)
_UPDATED = (
    "A published version never changes. Changes and withdrawals lead to a new version. CHANGES.md lists the changes."
)


def _chosen(choices: Choices) -> str:
    sentences = [f"Times: {choices.timing.label}", f"writing logs: {choices.logs.label}"]
    sentences.append(f"retrieved passages: {choices.passages.label}")
    return "; ".join(markup.line(str(sentence)) for sentence in sentences) + "."


def _acquired(about: About, manifest: Manifest) -> str:
    """Say how the contained texts and judgments were made: only what applies."""
    rows = {table["name"]: table["rows"] for table in manifest["tables"]}
    passages = " from retrieved passages" if rows.get("retrieved") else ""
    sentences = [text.format(passages=passages) for making, text in _TEXTS.items() if making in about.makings]
    if rows.get("judgments"):
        sentences.append(_JUDGED)
    return " ".join(sentences) or "This release contains no texts or judgments of people."


def _collection(about: About, manifest: Manifest) -> list[tuple[str, str]]:
    if about.is_simulated:
        return [("How was the data acquired?", "By simulation of a crowd with a fixed seed.")]
    return [
        ("How was the data acquired?", _acquired(about, manifest)),
        ("Did the people consent?", _CONSENT),
        ("Can consent be withdrawn?", _WITHDRAWN),
    ]


def _labelling(about: About, manifest: Manifest) -> list[tuple[str, str]]:
    if not about.runs:
        return [("Was any labelling done?", "Judgments are as given. This release has no labels derived from them.")]
    rows = [
        [
            markup.code(run.kind),
            markup.code(run.code_version),
            markup.code(run.inputs_digest[:16]),
            markup.line(run.finished_at),
            markup.line(f"yes: {run.stale}") if run.stale else "no",
        ]
        for run in about.runs
    ]
    table = markup.table(["kind of run", "code version", "digest of inputs", "finished", "study changed since"], rows)
    digest = f"Digest of all: `{manifest['runs_digest']}`"
    return [("Was any labelling done?", f"{_COMPUTED}\n\n{table}\n\n{digest}")]


def _uses() -> list[tuple[str, str]]:
    return [("What could it be used for?", _GOOD_FOR), ("What should it not be used for?", _NOT_FOR)]


def _distribution(about: About, manifest: Manifest) -> list[tuple[str, str]]:
    where = f"At <{about.address}>." if about.address else "As files."
    if about.doi:
        where += f" DOI: {markup.code(about.doi)}."
    return [
        ("How is it distributed, and under which licence?", f"{where} Licence: {markup.code(manifest['licence'])}."),
        ("Who is the contact?", markup.line(about.contact) or "The creators."),
        ("Will it be updated?", _UPDATED),
    ]
