"""Build the index of a corpus once, for all experiments; list and delete indexes."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.experiments import index_runs, retrievers
from analysis.experiments.experiment import BadParameterError
from analysis.rag.retrieval.engine import BadRetrieverError
from analysis.rag.retrieval.index_library import IndexEntry, MissingIndexError
from analysis.rag.retrieval.search_server import SearchServerError
from crowdrag.jobs.run_command import RunCommand
from crowdrag.studies.models import Study


class Command(RunCommand):
    help = "Build the index of a corpus, which all experiments then use; list and delete indexes."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("corpus", nargs="?", type=Path, help="a file of documents (JSON lines, may be gzipped)")
        parser.add_argument("--study", help="the study that the run belongs to (any study can use the index)")
        parser.add_argument(
            "--searcher",
            default=retrievers.WORDS,
            help=(
                "the retriever, with settings after a question mark, such as bm25?k1=0.9&b=0.4 "
                f"(default: {retrievers.WORDS}). Available: {', '.join(retrievers.offered_for_corpora())}"
            ),
        )
        parser.add_argument("--list", action="store_true", help="list all indexes and exit")
        parser.add_argument("--delete", metavar="INDEX", help="delete an index and exit")
        self.add_resume_option(parser)

    def handle(
        self, *args: Any, corpus: Path | None, study: str | None, searcher: str, resume: str | None, **options: Any
    ) -> None:
        if options["list"]:
            self._list()
        elif options["delete"]:
            self._delete(options["delete"])
        else:
            self._build(corpus, _study(study), searcher, resume)

    def _build(self, corpus: Path | None, study: Study, searcher: str, resume: str | None) -> None:
        self.resume_hint = f"crowdrag index --study {study.slug}"
        if resume:
            kind = self._kind_of(resume, study)
            run = self.finished(self.resumed(resume, study=study, kind=kind))
            self._print_built(retrievers.library().find(index_runs.order_of(run)))
            return
        if corpus is None:
            raise CommandError("Give the corpus: a file of documents.")
        try:
            order = index_runs.order(searcher, corpus)
            if (entry := retrievers.library().find(order)) is not None:
                self._print_built(entry)
                return
            run = index_runs.start(order, corpus, study=study)
        except BadParameterError as error:
            raise CommandError(str(error)) from error
        self.remark(f"Run {run.key}.")
        self.finished(run)
        self._print_built(retrievers.library().find(order))

    def _kind_of(self, key: str, study: Study) -> str:
        kind = study.runs.filter(key=key, kind=index_runs.MODEL_KIND).values_list("kind", flat=True).first()
        return str(kind or index_runs.KIND)

    def _print_built(self, entry: IndexEntry | None) -> None:
        if entry is None:
            raise CommandError("The index was deleted.")
        self.print_result(_values(entry), _line(entry))

    def _list(self) -> None:
        entries = retrievers.library().entries()
        lines = [f"{entry.key}  {_line(entry)}" for entry in entries] or ["There are no indexes."]
        self.print_result({"indexes": [_values(entry) for entry in entries]}, *lines)

    def _delete(self, key: str) -> None:
        try:
            entry = retrievers.library().delete(key)
        except (MissingIndexError, SearchServerError, BadRetrieverError) as error:
            raise CommandError(str(error)) from error
        self.print_result(_values(entry), f"Deleted: {_line(entry)}")


def _study(slug: str | None) -> Study:
    if not slug:
        raise CommandError("Give the study that the run belongs to: --study.")
    if (study := Study.objects.filter(slug=slug).first()) is None:
        raise CommandError(f"There is no study {slug!r}.")
    return study


def _values(entry: IndexEntry) -> dict[str, Any]:
    return {
        "index": entry.key,
        "searcher": entry.choice,
        "version": entry.version,
        "corpus": entry.corpus,
        "sha256": entry.sha256,
        "documents": entry.documents,
        "bytes": entry.size,
        "built_at": entry.built_at,
        "run": entry.run,
    }


def _line(entry: IndexEntry) -> str:
    return f"{entry.corpus}: {entry.documents:,} documents by {entry.choice}, {entry.size / 1e6:,.1f} MB."
