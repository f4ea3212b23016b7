"""Importers of judging."""

from datetime import datetime

from crowdrag.studies.models import Study
from writing.corpus.imports import importers
from writing.corpus.imports.importers import STRICT, Importer, Input, Inputs, Options, Stored
from writing.corpus.imports.json_lines import Report
from writing.corpus.imports.problems import Problems

from . import crowdrag25, questionnaire_files


def _read_corpus(files: Inputs, _options: Options, problems: Problems, report: Report) -> crowdrag25.Corpus:
    return crowdrag25.read(files.source(), problems, report=report)


def _store_corpus(study: Study, corpus: crowdrag25.Corpus, now: datetime) -> Stored:
    return crowdrag25.store(study=study, corpus=corpus, now=now)


def _read_questionnaire(
    files: Inputs, _options: Options, problems: Problems, _report: Report
) -> questionnaire_files.QuestionnaireInput:
    return questionnaire_files.read(files.one("file"), problems)


def _store_questionnaire(study: Study, questionnaire: questionnaire_files.QuestionnaireInput, now: datetime) -> Stored:
    stored = questionnaire_files.store(study=study, questionnaire=questionnaire, now=now)
    versions = {str(row.name): row.version for row in (stored.instructions, *stored.dimensions)}
    return Stored({"made": stored.made, "versions": versions})


CORPUS = Importer(
    name="crowdrag25",
    title="CrowdRAG-25",
    description=(
        "A folder in the layout of the published corpus: topics, responses with their logs, judgments. "
        "Faulty rows are skipped, counted and listed."
    ),
    inputs=(Input("folder", "Folder", "Zip or tar archive, or the files", many=True),),
    read=_read_corpus,
    store=_store_corpus,
    template="annotation/imports/_crowdrag25.html",
    options=(STRICT,),
    order=95,
)
QUESTIONNAIRE = Importer(
    name="questionnaire",
    title="Instructions and questions",
    description="What judges read and what they are asked, as JSON.",
    inputs=(Input("file", "Instructions and questions", "One JSON object"),),
    read=_read_questionnaire,
    store=_store_questionnaire,
    template="annotation/imports/_questionnaires.html",
    order=50,
)


def register() -> None:
    """Register the importers of judging."""
    for importer in (CORPUS, QUESTIONNAIRE):
        importers.register(importer)
