"""Tables of the experiment, computed from the results of its stages, with document lengths and example questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from analysis.rag import checkpoints
from analysis.rag.generation import loader
from analysis.rag.protocols import Document
from analysis.rag.uplift_rag.document_selection import Missing, Selection
from analysis.rag.uplift_rag.method_comparison import Difference, Mean, Resampled, corrected, shares
from analysis.rag.uplift_rag.uplift_labels import METRICS, Category, reference
from analysis.rag.uplift_rag.variants import UPLIFT, UPPER_BOUND

from ...tables.rows import NOTE, Row, number
from .. import generators
from ..experiment import BadParameterError
from ..stage_context import StageContext
from . import outcomes, questions
from .outcomes import Outcomes
from .parameters import STANDARD, UpliftRagParameters
from .stages import LABEL, OTHER, OWN, TRAIN, TRANSFER

TOKENS, WORDS = "tokens", "words"
_NO_TOKENIZER = (
    BadParameterError, checkpoints.ModelMissingError, checkpoints.NeuralPartsMissingError,
    loader.UnsupportedGeneratorError, OSError, ValueError,
)  # fmt: skip


def counter(parameters: Mapping[str, Any]) -> tuple[Callable[[Document], int], str]:
    """Choose how to measure the length of a run's documents as shown in a prompt: number, title and text.

    Parameters
    ----------
    parameters : mapping
        A run's parameters; only `generator` is read.

    Returns
    -------
    callable(Document) -> int, str
        The unit is `tokens` for a model in this process, and `words` otherwise: a server only counts whole prompts, and
        another model's tokens would not be comparable.
    """
    length, unit = _tokenizer(parameters)
    by_text = cache(length)
    return lambda document: by_text(reference([document])), unit


def _tokenizer(parameters: Mapping[str, Any]) -> tuple[Callable[[str], int], str]:
    try:
        named = generators.read(str(parameters.get("generator") or ""))
        if named.where == "model":
            generators.check_offered(named.name)
            tokenizer = loader.tokenizer(named.name)
            return lambda text: len(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]), TOKENS
    except _NO_TOKENIZER:
        pass  # tables do not need a model: if it cannot be loaded, words are counted
    return lambda text: len(text.split()), WORDS


#: Number of example questions, sampled with the run's seed; with all methods about a hundred rows.
MOST = 10
BETWEEN = " | "
OF_PEOPLE = "the right answers are responses of this study"


def examples(of: Outcomes, methods: Iterable[str], rng: np.random.Generator, *, of_people: bool) -> list[Row]:
    """Rows of some questions, in the collection's order: one for each method that answered.

    Parameters
    ----------
    of : Outcomes
    methods : iterable of str
    rng : numpy.random.Generator
        Samples the questions, so that none is selected by its outcome.
    of_people : bool
        Whether gold answers are people's responses. These are not repeated in the table, because the table may be
        released where a response may not.

    Returns
    -------
    list of dict
        `helpful`: documents that help alone; `documents`: those that the method used, in its order.
    """
    names = list(methods)
    places = sorted(rng.choice(len(of.queries), size=min(MOST, len(of.queries)), replace=False).tolist())
    rows: list[Row] = []
    for index in places:
        one, answers = of.labelled[index], of.answered[index]
        helpful = [document.id for document, helps in zip(one.documents, one.helpful, strict=True) if helps]
        about: Row = {
            "query": one.query.id,
            "question": one.query.question,
            "answers": "" if of_people else BETWEEN.join(one.query.answers),
            "helpful": BETWEEN.join(helpful),
        }
        for name in names:
            if "text" not in answers.get(name, {}):
                continue
            scores = {metric: METRICS[metric](answers[name]["text"], one.query.answers) for metric in METRICS}
            handed = BETWEEN.join(answers[name]["documents"])
            row = about | {"method": name, "documents": handed, "answer": answers[name]["text"]} | scores
            rows.append(row | ({NOTE: OF_PEOPLE} if of_people else {}))
    return rows


#: Key of what was left out while reading the data, which was never a question of the run.
OF_ALL = "left_out_of_all"
#: How documents of other questions were sampled.
WITHIN = "sampled from the questions of the same split"
ANYWHERE = (
    "sampled from the whole file: training documents include documents of tested questions, because "
    "this run was started before splits were kept separate"
)
#: Thresholds that are always reported; at 0 all documents are selected.
ROUND = tuple(tenth / 10 for tenth in range(10))
NOTHING_HANDED = "no documents were selected"
SEES_THE_ANSWERS = "not tested, because it knows which documents help"


def tables(context: StageContext) -> dict[str, list[Row]]:
    """Compute all tables of the experiment, by name."""
    run_outcomes = outcomes.read(context)
    resampled = Resampled(len(run_outcomes.queries), context.parameters.resamples, context.rng("uplift intervals"))
    uplift_tables = _Tables(context.parameters, run_outcomes, resampled)
    rows = {
        "uplift_results": uplift_tables.results(),
        "uplift_ablations": uplift_tables.ablations(),
        "uplift_inputs": uplift_tables.inputs(*counter(context.run.parameters)),
        "uplift_categories": uplift_tables.categories(),
        "uplift_errors": uplift_tables.errors(),
        "uplift_found": uplift_tables.precision_and_recall(),
        "uplift_order": uplift_tables.order(),
        "uplift_thresholds": uplift_tables.thresholds(),
        "uplift_transfer": uplift_tables.transfer(),
        "uplift_examples": examples(
            run_outcomes,
            uplift_tables.all,
            context.rng("uplift examples"),
            of_people=questions.is_of_people(context.run),
        ),
        "uplift_training": _training(context),
        "uplift_counts": _counts(context, run_outcomes),
        "uplift_answers": uplift_tables.answers(),
    }
    forms = {name: run_outcomes.form(name) for name in uplift_tables.all}
    return {
        name: _by_form(table_rows, forms)
        for name, table_rows in rows.items()
        if table_rows or name != "uplift_transfer"
    }


def _by_form(rows: Sequence[Row], forms: Mapping[str, str]) -> list[Row]:
    """Rename methods by form: only a complete implementation of a paper's method has the paper's name."""
    return [row | ({"method": forms[str(row["method"])]} if "method" in row else {}) for row in rows]


class _Tables:
    def __init__(self, parameters: UpliftRagParameters, outcomes: Outcomes, resampled: Resampled) -> None:
        self.parameters = parameters
        self.of = outcomes
        # several tables need the same scores
        self.scores = cache(outcomes.scores)
        self.resampled = resampled
        self.all = (*parameters.compared, UPPER_BOUND)

    def results(self) -> list[Row]:
        """Every method compared with standard RAG. The upper bound uses the labels and is not tested."""
        methods = [name for name in self.all if name not in self.parameters.ablations]
        return self._compared("method", methods, STANDARD)

    def ablations(self) -> list[Row]:
        """Uplift RAG without each part, tested against the full method, and its difference from standard RAG."""
        rows = self._compared("variant", [UPLIFT, *self.parameters.ablations], UPLIFT)
        for row in rows:
            metric = str(row["metric"])
            apart = self.scores(str(row["variant"]), metric) - self.scores(STANDARD, metric)
            row |= bounds("to_standard", self.resampled.mean(apart))
        return rows

    def _compared(self, column: str, names: list[str], baseline: str) -> list[Row]:
        scores = {(name, metric): self.scores(name, metric) for metric in METRICS for name in names}
        apart = {
            f"{name}:{metric}": self.resampled.difference(values, scores[baseline, metric])
            for (name, metric), values in scores.items()
            if name != baseline
        }
        tested = corrected_but(apart, UPPER_BOUND)
        rows = []
        for (name, metric), values in scores.items():
            row = {column: name, "metric": metric} | mean_row(self.resampled.mean(values))
            difference = tested.get(f"{name}:{metric}")
            reason = self.of.why_not(name) or (difference.note if difference else "")
            rows.append(row | difference_row(difference) | ({NOTE: reason} if reason else {}))
        return rows

    def inputs(self, length: Callable[[Document], int], unit: str) -> list[Row]:
        """Number and length of the documents that each method uses, and the length of prompts (Table 3)."""
        base = self.of.counts(STANDARD, "prompt_tokens")
        base_length = self.of.lengths(STANDARD, length)
        rows = []
        for name in self.all:
            tokens = self.of.counts(name, "prompt_tokens")
            handed = self.of.lengths(name, length)
            row: Row = {"method": name}
            for column, mean in (
                ("documents", self.resampled.mean(self.of.documents(name))),
                ("document_tokens", self.resampled.mean(handed)),
                ("document_ratio", self.resampled.ratio(handed, base_length)),
                ("prompt_tokens", self.resampled.mean(tokens)),
                ("ratio", self.resampled.ratio(tokens, base)),
            ):
                row |= bounds(column, mean)
            empty = self.resampled.mean(np.where(np.isnan(tokens), np.nan, self.of.documents(name) == 0))
            calls = self.resampled.mean(self.of.counts(name, "calls"))
            reason = self.of.why_not(name)
            refused = int(np.nansum(self.of.counts(name, "refused")))
            row |= {"counted": unit, "without_documents": number(empty.value), "calls": number(calls.value)}
            row |= {"refused": refused, "n": calls.n}
            rows.append(row | ({NOTE: reason} if reason else {}))
        return rows

    def categories(self) -> list[Row]:
        """Effects of documents on answers (Figure 1)."""
        of = [[str(category) for category in one.categories] for one in self.of.labelled]
        means = shares(of, [str(category) for category in Category], self.resampled)
        documents = sum(map(len, of))
        return [{"category": name, "documents": documents} | mean_row(mean, "share") for name, mean in means.items()]

    def errors(self) -> list[Row]:
        """Helpful documents missing from the selection, for answers worse than the upper bound's (Figure 4)."""
        best = self.scores(UPPER_BOUND, self.parameters.metric)
        rows: list[Row] = []
        for name in self._selecting():
            worse = self.scores(name, self.parameters.metric) < best
            of = [
                [str(selection.missing)] if selection and is_worse else []
                for selection, is_worse in zip(self.of.selections(name), worse, strict=True)
            ]
            means = shares(of, [str(missing) for missing in Missing], self.resampled)
            rows += [
                {"method": name, "missing": kind, "errors": sum(map(len, of))} | mean_row(mean, "share")
                for kind, mean in means.items()
            ]
        return rows

    def precision_and_recall(self) -> list[Row]:
        """Precision and recall of the selected documents, relative to the documents that help alone."""
        rows: list[Row] = []
        for name in self._selecting():
            for measure, mean in zip(
                ("precision", "recall"), self._precision_and_recall(self.of.selections(name)), strict=True
            ):
                row = {"method": name, "measure": measure} | mean_row(mean)
                note = NOTHING_HANDED if measure == "precision" else "no document helps"
                rows.append(row | ({NOTE: note} if np.isnan(mean.value) else {}))
        return rows

    def order(self) -> list[Row]:
        """How often helpful documents rank above others, for each reranker and for the retriever."""
        retrieved = self.of.ordered()
        apart = {
            name: self.of.ordered(name)
            for name in (UPLIFT, *self.parameters.ablations)
            if name in self.parameters.learning
        }
        tested = self.resampled.differences(apart, retrieved)
        rows = []
        for name, values in ({STANDARD: retrieved} | apart).items():
            difference = tested.get(name)
            reason = (self.of.why_not(name) or difference.note) if difference else ""
            row = {"method": name} | mean_row(self.resampled.mean(values)) | difference_row(difference)
            rows.append(row | ({NOTE: reason} if reason else {}))
        return rows

    def thresholds(self) -> list[Row]:
        """What uplift RAG would select at other thresholds; computed without further calls."""
        reason = self.of.why_not(UPLIFT)
        rows = []
        for threshold in self._thresholds():
            would = self.of.above(threshold, UPLIFT)
            chosen = _column(would, "chosen")
            without = self.resampled.mean(np.where(np.isnan(chosen), np.nan, chosen == 0))
            precision, recall = self._precision_and_recall(would)
            row: Row = {"threshold": threshold} | bounds("documents", self.resampled.mean(chosen))
            row |= {"without_documents": number(without.value)} | bounds("precision", precision)
            row |= bounds("recall", recall) | {"precision_n": precision.n, "recall_n": recall.n, "n": without.n}
            note = reason or (NOTHING_HANDED if np.isnan(precision.value) else "")
            rows.append(row | ({NOTE: note} if note else {}))
        return rows

    def _thresholds(self) -> list[float]:
        """The fixed thresholds, the deciles of the predicted probabilities, and the run's own threshold."""
        p = [probability for believed in self.of.believed.get(UPLIFT, {}).values() for probability in believed]
        tenths = np.round(np.quantile(p, np.arange(1, 10) / 10), 3).tolist() if p else []
        return sorted({*ROUND, *tenths, self.parameters.threshold})

    def _precision_and_recall(self, selections: Sequence[Selection | None]) -> tuple[Mean, Mean]:
        """Precision and recall, each over the questions where its denominator is not 0."""
        right, chosen, helpful = (_column(selections, name) for name in ("right", "chosen", "helpful"))
        below = (np.where(counts > 0, counts, np.nan) for counts in (chosen, helpful))
        precision, recall = (self.resampled.ratio(right, denominator, share=True) for denominator in below)
        return precision, recall

    def transfer(self) -> list[Row]:
        """Compare each generator with the other one's helpful documents and with its own (Figure 5)."""
        if not self.parameters.other:
            return []
        rows: list[Row] = []
        apart = {}
        for metric in METRICS:
            for by, of in ((OWN, OTHER), (OTHER, OWN)):
                home = self.of.exchanged(by, by, metric)
                away = self.of.exchanged(of, by, metric)
                apart[f"{of}:{by}:{metric}"] = self.resampled.difference(away, home)
        tested = corrected_but(apart, "")
        for metric in METRICS:
            for by in (OWN, OTHER):
                for of in (OWN, OTHER):
                    mean = self.resampled.mean(self.of.exchanged(of, by, metric))
                    difference = tested.get(f"{of}:{by}:{metric}")
                    row = {"documents_for": of, "answered_by": by, "metric": metric} | mean_row(mean)
                    note = {NOTE: difference.note} if difference and difference.note else {}
                    rows.append(row | difference_row(difference) | note)
        return rows

    def answers(self) -> list[Row]:
        """Every answer by every method."""
        return [
            {
                "query": query.id, "split": split, "method": name, "answer": answers[name]["text"],
                **{metric: METRICS[metric](answers[name]["text"], query.answers) for metric in METRICS},
                "documents": len(answers[name]["documents"]), "prompt_tokens": answers[name]["prompt_tokens"],
            }
            for query, split, answers in zip(self.of.queries, self.of.split, self.of.answered, strict=True)
            for name in self.all
            if "text" in answers.get(name, {})
        ]  # fmt: skip

    def _selecting(self) -> list[str]:
        """The methods that select documents, where they were possible."""
        never = {"naive"}
        return [name for name in self.all if name not in never and not np.isnan(self.of.documents(name)).all()]


def corrected_but(apart: Mapping[str, Difference], untested: str) -> dict[str, Difference]:
    """Adjust p-values jointly.

    One name's rows are excluded: they are not a test, because the method sees the labels.
    """
    nan = float("nan")
    return corrected({
        name: replace(difference, statistic=nan, p=nan, note=SEES_THE_ANSWERS)
        if untested and name.startswith(f"{untested}:") else difference
        for name, difference in apart.items()
    })  # fmt: skip


def mean_row(mean: Mean, name: str = "value") -> Row:
    """A mean's columns."""
    return {name: number(mean.value), "low": number(mean.low), "high": number(mean.high), "n": mean.n}


def bounds(column: str, mean: Mean) -> Row:
    """A mean's columns in a table with several means: value, low and high."""
    return {column: number(mean.value), f"{column}_low": number(mean.low), f"{column}_high": number(mean.high)}


def difference_row(difference: Difference | None) -> Row:
    """A difference's columns; all null for the baseline itself."""
    if difference is None:
        names = ("difference", "difference_low", "difference_high", "statistic", "p", "p_adjusted")
        return dict.fromkeys(names)
    mean = difference.mean
    return {
        "difference": number(mean.value),
        "difference_low": number(mean.low),
        "difference_high": number(mean.high),
        "statistic": number(difference.statistic),
        "p": number(difference.p),
        "p_adjusted": number(difference.p_adjusted),
    }


def _column(selections: Iterable[Selection | None], name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([np.nan if selection is None else float(getattr(selection, name)) for selection in selections])


def _training(context: StageContext) -> list[Row]:
    """The training data and result of each reranker."""
    rows: list[Row] = []
    for key, training in context.results(TRAIN).items():
        split, name = key.split(":")
        history = training.get("history") or {}
        epochs = history.get("epochs") or [{}]
        best = epochs[history["best"] - 1] if history else {}
        row: Row = {
            "split": int(split), "method": name, "documents": history.get("documents"),
            "helpful": history.get("helpful"), "epochs": len(epochs) if history else None,
            "best": history.get("best"), "point_first": epochs[0].get("point"), "point": best.get("point"),
            "pair": best.get("pair"), "list": best.get("list"), "held_out": best.get("held_out"),
            "left_out": training.get("left_out"), "file": training.get("file", ""),
        }  # fmt: skip
        rows.append(row | ({NOTE: training["not_possible"]} if "not_possible" in training else {}))
    return rows


def _refused(parameters: UpliftRagParameters, run_outcomes: Outcomes) -> dict[str, int]:
    """Refused calls beyond the run's own labels: answers of all methods, and calls to the other model."""
    methods = [
        method_answer
        for answers in run_outcomes.answered
        for name, method_answer in answers.items()
        if name != TRANSFER and "refused" in method_answer
    ]
    counted = {"refused_answers": sum(bool(method_answer["refused"]) for method_answer in methods)}
    if parameters.other:
        exchanged = [
            exchanged_answer for answers in run_outcomes.answered for exchanged_answer in answers[TRANSFER].values()
        ]
        counted["refused_other"] = sum(labels["other"]["refused"] for labels in run_outcomes.label_results)
        counted["refused_transfer"] = sum(bool(exchanged_answer["refused"]) for exchanged_answer in exchanged)
    return counted


def _count_parts(where: Mapping[str, int], context: StageContext) -> dict[str, int]:
    """The number of questions that the data assigns to training and to development, if it does."""
    if not questions.is_given(context.collection):
        return {}
    folds = list(where.values())
    return {"train": folds.count(questions.TRAIN), "dev": folds.count(questions.DEV)}


def _counts(context: StageContext, run_outcomes: Outcomes) -> list[Row]:
    """The number of questions, the prompts to label them, and their properties."""
    helpful = np.array([int(one.helpful.sum()) for one in run_outcomes.labelled])
    documents = np.array([len(one.documents) for one in run_outcomes.labelled])
    where = questions.fold_of(context.collection, context.parameters)
    counted = {
        "questions": len(run_outcomes.queries),
        "documents": int(documents.sum()),
        "one_document": int((documents == 1).sum()),
        **_count_parts(where, context),
        "label_prompts": sum(
            min(context.parameters.retrieve, len(context.by_id[name].documents)) + 1 for name in where
        ),
        "refused": sum(labels["refused"] for _name, labels in context.results_of(LABEL, where)),
        **_refused(context.parameters, run_outcomes),
        "right_without": sum(METRICS["em"](one.without, one.query.answers) == 1 for one in run_outcomes.labelled),
        "helpful": int(helpful.sum()),
        "nothing_helps": int((helpful == 0).sum()),
        "one_helps": int((helpful == 1).sum()),
    }
    rows: list[Row] = [{"name": name, "count": count} for name, count in counted.items()]
    if others := questions.strangers(context.run):
        how = WITHIN if questions.is_apart(context.run) else ANYWHERE
        rows.append({"name": "strangers", "count": others * len(run_outcomes.queries), NOTE: how})
    for name, out in (("left_out", questions.left_out(context.collection)), (OF_ALL, context.collection.left_out)):
        rows += [{"name": name, "count": count, NOTE: reason} for reason, count in dict(out).items()]
    return rows
