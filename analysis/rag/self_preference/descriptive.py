"""Descriptive tables of a bank and of models' knowledge: Tables 1 and 2 and Figures 4 and 5 of the paper."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..protocols import Document, Query
from .bank import Style, style_of
from .knowledge import Knowledge, Recall, StatedKnowledge
from .perplexity import TooFewPassagesError, compare
from .pointwise import TRUTHS
from .question_means import Means, Row

#: By model, then by question, the model's answers without a passage.
Recalls = Mapping[str, Mapping[str, Recall]]
GIVEN, ASKED = "given", "asked"
QUESTION = "question"


def knowledge(recalls: Recalls, source: str, average: Means) -> list[Row]:
    """Count the questions that each model knows (Table 1).

    Returns
    -------
    list of dict
        model, source (`given` by the data or `asked`), level, share, low, high, count, n (questions).
    """
    rows: list[Row] = []
    for model, by_question in recalls.items():
        levels = {question: recall.level for question, recall in by_question.items() if recall.answers}
        for level in (Knowledge.NONE, Knowledge.PARTIAL, Knowledge.FULL):
            mean = average.of([(question, float(recall is level)) for question, recall in levels.items()])
            count = sum(recall is level for recall in levels.values())
            row: Row = {"model": model, "source": source, "level": level.value}
            row |= {"share": mean.value, "low": mean.low, "high": mean.high, "count": count, "n": mean.questions}
            rows += [row] if levels else []
    return rows


def recounted(stated_by_model: Mapping[str, Mapping[str, StatedKnowledge]], average: Means) -> list[Row]:
    """Compare the counts of correct answers in the data with our rule (`knowledge.is_right`).

    Returns
    -------
    list of dict
        model, measure (`count`: the same count; `level`: the same level), agree, low, high, n (questions).
    """
    rows: list[Row] = []
    for model, by_question in stated_by_model.items():
        countable = {
            q: stated for q, stated in by_question.items() if stated.published is not None and stated.recall.answers
        }
        agreements = {
            "count": [(q, float(not stated.is_exception)) for q, stated in countable.items()],
            "level": [(q, float(_published_level(stated) == stated.recall.level)) for q, stated in countable.items()],
        }
        for measure, values in agreements.items():
            mean = average.of(values)
            row: Row = {"model": model, "measure": measure}
            row |= {"agree": mean.value, "low": mean.low, "high": mean.high, "n": mean.questions}
            rows += [row] if values else []
    return rows


def exceptions(stated_by_model: Mapping[str, Mapping[str, StatedKnowledge]], queries: Mapping[str, Query]) -> list[Row]:
    """List the questions where the two counts differ: model, question, text, truth, answers, published, recounted."""
    return [
        {
            "model": model,
            "question": question,
            "text": queries[question].question,
            "truth": "; ".join(queries[question].answers),
            "answers": " | ".join(stated.recall.answers),
            "published": stated.published,
            "recounted": stated.recall.right,
        }
        for model, by_question in stated_by_model.items()
        for question, stated in by_question.items()
        if stated.is_exception
    ]


def bank(queries: Sequence[Query], flaws: Mapping[str, Sequence[tuple[str, str]]], average: Means) -> list[Row]:
    """Describe the bank (Table 2): number, length and perplexity of its passages.

    Perplexities in the data are only for true passages in normal style.

    Parameters
    ----------
    queries : sequence of Query
        With all passages.
    flaws : mapping
        By question, the passages that cannot be used, with the reason.
    average : Means

    Returns
    -------
    list of dict
        author (`question` for the questions themselves), truth, style, words, words_low, words_high, words_sd,
        perplexity, perplexity_sd (NaN if unknown), passages, left_out.
    """
    by_id = {query.id: query for query in queries}
    groups: dict[tuple[str, str, str], list[tuple[str, Document]]] = defaultdict(list)
    for query in queries:
        for document in query.documents:
            groups[document.author, TRUTHS[document.is_helpful], style_of(document)].append((query.id, document))
    rows = [_lengths((QUESTION, "", ""), [(query.id, query.question) for query in queries], average)]
    rows[0] |= {"perplexity": np.nan, "perplexity_sd": np.nan, "left_out": 0}
    for key in sorted(groups):
        row = _lengths(key, [(question, document.text) for question, document in groups[key]], average)
        left_out_passages = {
            (question, passage) for question, flaws_found in flaws.items() for passage, _why in flaws_found
        }
        row["left_out"] = sum((question, document.id) in left_out_passages for question, document in groups[key])
        perplexities = [_of_passage(by_id[question], document) for question, document in groups[key]]
        known_values = [value for value in perplexities if not np.isnan(value)]
        row["perplexity"] = float(np.mean(known_values)) if known_values else np.nan
        row["perplexity_sd"] = float(np.std(known_values, ddof=1)) if len(known_values) > 1 else np.nan
        rows.append(row)
    return rows


def perplexities(queries: Sequence[Query], names: Sequence[str]) -> list[Row]:
    """Test whether authors differ in perplexity (the tests of Table 2): `perplexity.compare`.

    Returns
    -------
    list of dict
        test (`anova` of all authors, `tukey` of each pair), first, second, difference, low, high, statistic, p (Tukey's
        is corrected for all pairs), p_paired, n (questions), left_out. Empty if the data has too few perplexities to
        compare.
    """
    values_by_author = {author: np.array([_perplexity(query, author) for query in queries]) for author in names}
    values_by_author = {author: values for author, values in values_by_author.items() if not np.isnan(values).all()}
    try:
        comparison = compare(values_by_author)
    except TooFewPassagesError:
        return []
    ends: Row = {"n": comparison.questions, "left_out": comparison.left_out}
    rows: list[Row] = [
        {"test": "anova", "first": "", "second": "", "difference": np.nan, "low": np.nan, "high": np.nan}
        | {"statistic": comparison.statistic, "p": comparison.p, "p_paired": np.nan}
        | ends
    ]
    for difference in comparison.differences:
        row: Row = {
            "test": "tukey",
            "first": difference.first,
            "second": difference.second,
            "difference": difference.difference,
        }
        row |= {
            "low": difference.low,
            "high": difference.high,
            "statistic": np.nan,
            "p": difference.p_tukey,
            "p_paired": difference.p_paired,
        }
        rows.append(row | ends)
    return rows


def outcomes(results: Iterable[tuple[str, str, int]]) -> list[Row]:
    """Count the outcomes of all requests, and of what was excluded before a request.

    Parameters
    ----------
    results : iterable of (str, str, int)
        Part, reason ("" if there is a result), attempts (0: never requested).

    Returns
    -------
    list of dict
        part, outcome (`at_once`, `asked_again`, or the reason why there is no result), count, attempts (in total).
    """
    counts: Counter[tuple[str, str]] = Counter()
    attempts: Counter[tuple[str, str]] = Counter()
    for part, reason, tries in results:
        key = part, reason or ("at_once" if tries <= 1 else "asked_again")
        counts[key] += 1
        attempts[key] += tries
    return [
        {"part": part, "outcome": outcome, "count": count, "attempts": attempts[part, outcome]}
        for (part, outcome), count in counts.items()
    ]


def examples(queries: Sequence[Query], names: Sequence[str], limit: int = 2) -> list[Row]:
    """Return the passages of example questions, those with the most kinds of passages, side by side (Figures 4 and 5).

    Returns
    -------
    list of dict
        question, text (the question's), author, truth, style, answer, words, passage.
    """
    kinds = {query.id: len({(p.author, p.is_helpful, style_of(p)) for p in query.documents}) for query in queries}
    sample = sorted((query for query in queries if query.documents), key=lambda query: -kinds[query.id])[:limit]
    order = {name: i for i, name in enumerate(names)}
    return [
        {
            "question": query.id,
            "text": query.question,
            "author": passage.author,
            "truth": TRUTHS[passage.is_helpful],
            "style": style_of(passage),
            "answer": passage.answer,
            "words": len(passage.text.split()),
            "passage": passage.text,
        }
        for query in sample
        for passage in sorted(query.documents, key=lambda p: (style_of(p), -order.get(p.author, -1), p.id))
    ]


def _published_level(stated: StatedKnowledge) -> Knowledge:
    tries, correct = len(stated.recall.answers), stated.published or 0
    return Knowledge.FULL if correct == tries else Knowledge.PARTIAL if correct else Knowledge.NONE


def _lengths(key: tuple[str, str, str], texts: Sequence[tuple[str, str]], average: Means) -> Row:
    words = [(question, float(len(text.split()))) for question, text in texts]
    mean = average.of(words)
    deviation = float(np.std([value for _question, value in words], ddof=1)) if len(words) > 1 else np.nan
    row: Row = {"author": key[0], "truth": key[1], "style": key[2], "passages": mean.trials}
    return row | {"words": mean.value, "words_low": mean.low, "words_high": mean.high, "words_sd": deviation}


def measured(query: Query, perplexity: Mapping[str, float]) -> Query:
    """Return a question with a model's perplexity of each passage, by id, instead of the data's perplexities."""
    normal = {passage.author: perplexity.get(passage.id) for passage in query.documents if _is_plain(passage)}
    return replace(query, facts={**query.facts, "perplexity": normal, "perplexities": dict(perplexity)})


def _is_plain(passage: Document) -> bool:
    """Return whether a passage is used to compare authors: true and in the normal style."""
    return bool(passage.is_helpful) and style_of(passage) == Style.NORMAL


def _of_passage(query: Query, passage: Document) -> float:
    by_passage = query.facts.get("perplexities")
    if by_passage is None:
        return _perplexity(query, passage.author) if _is_plain(passage) else np.nan
    return float(by_passage.get(passage.id, np.nan))


def _perplexity(query: Query, author: str) -> float:
    value = query.facts.get("perplexity", {}).get(author)
    return np.nan if value is None else float(value)
