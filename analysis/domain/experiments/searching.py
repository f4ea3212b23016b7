"""Questions whose candidates are searched for in a corpus, and stored with the study as a file of their own.

What an experiment asks is then what stands in the file: no worker needs the corpus, and the file's digest says it all.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from pathlib import Path

from django.utils.translation import gettext as _

from analysis.rag.collections import corpus as corpora
from analysis.rag.collections import fields, qa
from analysis.rag.retrieval import search
from analysis.rag.retrieval.reading import NoDocumentsError
from analysis.rag.shapes import Collection
from crowdrag.jobs.models import Upload
from crowdrag.studies.models import Study

from . import retrieving, starting
from .experiment import BadParameterError
from .reading import BadCollectionError

#: Candidates of a question, where nobody says how many.
CANDIDATES = 100
MOST_CANDIDATES = 1000


def with_candidates(
    *, study: Study, questions: Path, corpus: Path, n: int = CANDIDATES, searcher: str = retrieving.WORDS
) -> Upload:
    """Give each question the best documents of a corpus, and store them with the study.

    Parameters
    ----------
    study : Study
    questions : Path
        In the format `qa`; documents may be named by their ids in the corpus.
    corpus : Path
        docs/guides/collections.md. It is read from disk, not stored.
    n : int
        How many; they stand by falling score, in the place of what the question had. 0: those that it names stay.
    searcher : str
        As `retrieving.searcher` reads it.

    Returns
    -------
    Upload
        Equal questions, corpus, n and searcher give one and the same.

    Raises
    ------
    BadCollectionError
        If a file is not what it is said to be, with file and line.
    BadParameterError
        If the searcher is not offered, or n is out of bounds.
    """
    if not 0 <= n <= MOST_CANDIDATES:
        said = _("candidates is %(n)s; it is a whole number from 0 to %(most)s.")
        raise BadParameterError(said % {"n": n, "most": MOST_CANDIDATES})
    who = retrieving.searcher(searcher)
    try:
        with corpora.Corpus.open(corpus) as opened:
            found = qa.read(questions, corpus=opened)
            found = search.retrieve(found, opened, who, n) if n else found
    except (fields.BadCollectionError, NoDocumentsError, OSError) as error:
        raise BadCollectionError(str(error)) from error
    with tempfile.TemporaryDirectory() as folder:
        by = re.sub(r"\W+", "-", searcher)
        name = f"{_stem(questions)}-{n}-by-{by}-of-{_stem(corpus)}" if n else f"{_stem(questions)}-of-{_stem(corpus)}"
        return starting.hand_in(study, _written(Path(folder) / f"{name}.jsonl.gz", found))


def _stem(path: Path) -> str:
    return path.name.split(".")[0]


def _written(path: Path, found: Collection) -> Path:
    """Equal questions are equal files, byte for byte: neither name nor time stands in them."""
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        for row in qa.write(found.queries):
            packed.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
    return path
