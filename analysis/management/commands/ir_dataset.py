"""Write a test collection of ir_datasets as a corpus and a file of questions, for experiments."""

import re
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.rag.collections import ir_collections
from analysis.rag.collections.fields import BadCollectionError
from crowdrag.command_output import ResultCommand


class Command(ResultCommand):
    help = "Write a test collection of ir_datasets as a corpus and a file of questions."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("name", help="the name in ir_datasets, such as beir/scifact/test")
        parser.add_argument("--out", type=Path, required=True, help="the folder for the files")
        parser.add_argument(
            "--relevant-from",
            type=int,
            default=1,
            help="the lowest relevance of a helpful document (default: 1)",
        )

    def handle(self, *args: Any, name: str, out: Path, relevant_from: int, **options: Any) -> None:
        try:
            dataset = ir_collections.load(name)
            written = ir_collections.write(
                dataset, out, name=re.sub(r"[^\w.]+", "-", name), relevant_from=relevant_from
            )
        except (ir_collections.IrDatasetsMissingError, BadCollectionError, OSError) as error:
            raise CommandError(str(error)) from error
        for reason, count in written.set_aside:
            self.stderr.write(f"Set aside: {count:,} {reason}.")
        self.print_result(
            {
                "corpus": written.corpus and str(written.corpus),
                "questions": written.questions and str(written.questions),
                "documents": written.documents,
                "queries": written.queries,
                "set_aside": dict(written.set_aside),
            },
            f"{written.documents:,} documents and {written.queries:,} questions written to {out}.",
        )
