"""The datasheet: the questions of Gebru et al. (Datasheets for Datasets, 2021), answered with what the system knows.

Why the data were collected, and what else they were used for, only the researcher knows; the description says it.
"""

from typing import Any

from ..choices import Choices
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
        ("Collection", _collection(about)),
        ("Preprocessing, cleaning, labelling", _labelling(about, manifest)),
        ("Uses", _uses()),
        ("Distribution and maintenance", _distribution(about, manifest)),
    ]


def _motivation(about: About) -> list[tuple[str, str]]:
    why = markup.paragraphs(about.description) or "The study's makers did not say."
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
        f"- {markup.code(table['name'])}: {table['rows']:,} rows. {markup.line(table['meaning'])}"
        for table in manifest["tables"]
    )
    nobody = "None: the study's crowd is simulated." if about.is_simulated else _PEOPLE[about.choices.pseudonyms.value]
    return [
        ("What do the instances represent, and how many are there?", counts or "There are none."),
        (
            "Does the dataset contain all possible instances?",
            "It holds what its makers chose of the study, and of that what may be released. Left out:\n\n"
            + card.left_out(about),
        ),
        ("Is any information missing?", f"Fields that may be empty say so in FIELDS.md. {_chosen(about.choices)}"),
        ("Does it relate to people, and can they be identified?", nobody),
        (
            "Does it contain data that might be offensive?",
            "Texts are as people and models wrote them, and passages as they were retrieved. Nobody rewrote them.",
        ),
    ]


_SEARCHED = "Free text was searched for personal data, and each finding was decided on by a researcher."
_PEOPLE = {
    "FRESH": (
        "Participants go by pseudonyms that were made for this release: by them, nobody can be found in another one "
        f"or in the study. {_SEARCHED}"
    ),
    "STABLE": (
        "Participants go by the study's pseudonyms, which are the same in each of its releases and say nothing of a "
        f"platform's ids. {_SEARCHED}"
    ),
}
_ACQUIRED = (
    "People wrote texts to a query from retrieved passages, in an editor that records how a text came about; people, "
    "and where tables say so models, judged texts alone or in pairs, in questionnaires of several dimensions."
)
_CONSENT = (
    "Whoever took part was shown a text that says what is recorded and what may be released under which licence, and "
    "agreed to each part on its own. Only what an agreement covers that still holds is in this release. People whose "
    "data came with a corpus that was public already have no agreement on record here."
)
_WITHDRAWN = (
    "Yes, at any time and without an account. What was given is then erased, this release is marked, and the next "
    "version is made without it."
)
_COMPUTED = (
    "Judgments are as they were given. Labels, grades and result tables were computed from them by these runs, whose "
    "parameters are in `release.json`:"
)
_GOOD_FOR = (
    "Evaluating retrieval-augmented generation: rankings of systems, measures compared with people's judgments, models "
    "as judges, and where logs are in it, how people write from sources."
)
_NOT_FOR = (
    "Finding out who took part, by style, timing or otherwise. Judging single participants. Grades of texts of "
    "different topics do not compare."
)
_UPDATED = (
    "A version never changes once it is published. What changes, and what is withdrawn, leads to a new one; CHANGES.md "
    "says what is new."
)


def _chosen(choices: Choices) -> str:
    sentences = [f"Times are {choices.timing.label}", f"writing logs: {choices.logs.label}"]
    sentences.append(f"retrieved passages: {choices.passages.label}")
    return "; ".join(markup.line(str(sentence)) for sentence in sentences) + "."


def _collection(about: About) -> list[tuple[str, str]]:
    if about.is_simulated:
        return [("How was the data acquired?", "By simulation of a crowd, from a fixed seed.")]
    return [
        ("How was the data acquired?", _ACQUIRED),
        ("Did the people consent?", _CONSENT),
        ("Can consent be withdrawn?", _WITHDRAWN),
    ]


def _labelling(about: About, manifest: Manifest) -> list[tuple[str, str]]:
    if not about.runs:
        return [("Was any labelling done?", "Judgments are as they were given. No labels derived from them are in it.")]
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
    table = markup.table(
        ["kind of run", "code version", "digest of its inputs", "finished", "study changed since"], rows
    )
    digest = f"Digest of all: `{manifest['runs_digest']}`"
    return [("Was any labelling done?", f"{_COMPUTED}\n\n{table}\n\n{digest}")]


def _uses() -> list[tuple[str, str]]:
    return [("What could it be used for?", _GOOD_FOR), ("What should it not be used for?", _NOT_FOR)]


def _distribution(about: About, manifest: Manifest) -> list[tuple[str, str]]:
    where = f"At <{about.address}>." if about.address else "As these files."
    if about.doi:
        where += f" DOI: {markup.code(about.doi)}."
    return [
        ("How is it distributed, and under which licence?", f"{where} Licence: {markup.code(manifest['licence'])}."),
        ("Whom can one ask?", markup.line(about.contact) or "The makers."),
        ("Will it be updated?", _UPDATED),
    ]
