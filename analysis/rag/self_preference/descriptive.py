"""What a bank holds and what models know of its questions: Tables 1 and 2 and Figures 4 and 5 of the paper."""

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

#: By model, what it answered to each question without a passage.
Recalls = Mapping[str, Mapping[str, Recall]]
GIVEN, ASKED = "given", "asked"
QUESTION = "question"


def knowledge(recalls: Recalls, source: str, average: Means) -> list[Row]:
    """How many questions each model knows (Table 1).

    Returns
    -------
    list of dict
        model, source (`given` by the data or `asked`), level, share, low, high, count, n (questions).
    """
    rows: list[Row] = []
    for model, by_question in recalls.items():
        levels = {question: each.level for question, each in by_question.items() if each.answers}
        for level in (Knowledge.NONE, Knowledge.PARTIAL, Knowledge.FULL):
            found = average.of([(question, float(each is level)) for question, each in levels.items()])
            count = sum(each is level for each in levels.values())
            row: Row = {"model": model, "source": source, "level": level.value}
            row |= {"share": found.value, "low": found.low, "high": found.high, "count": count, "n": found.questions}
            rows += [row] if levels else []
    return rows


def recounted(given: Mapping[str, Mapping[str, StatedKnowledge]], average: Means) -> list[Row]:
    """How far counts of right answers that came with the data follow from the rule (`knowledge.is_right`).

    Returns
    -------
    list of dict
        model, measure (`count`: the same count; `level`: the same level), agree, low, high, n (questions).
    """
    rows: list[Row] = []
    for model, by_question in given.items():
        counted = {q: each for q, each in by_question.items() if each.published is not None and each.recall.answers}
        agreements = {
            "count": [(q, float(not each.is_exception)) for q, each in counted.items()],
            "level": [(q, float(_published_level(each) == each.recall.level)) for q, each in counted.items()],
        }
        for measure, values in agreements.items():
            found = average.of(values)
            row: Row = {"model": model, "measure": measure}
            row |= {"agree": found.value, "low": found.low, "high": found.high, "n": found.questions}
            rows += [row] if values else []
    return rows


def exceptions(given: Mapping[str, Mapping[str, StatedKnowledge]], queries: Mapping[str, Query]) -> list[Row]:
    """The questions where they do not: model, question, text, truth, answers, published, recounted."""
    return [
        {
            "model": model,
            "question": question,
            "text": queries[question].question,
            "truth": "; ".join(queries[question].answers),
            "answers": " | ".join(each.recall.answers),
            "published": each.published,
            "recounted": each.recall.right,
        }
        for model, by_question in given.items()
        for question, each in by_question.items()
        if each.is_exception
    ]


def bank(queries: Sequence[Query], flaws: Mapping[str, Sequence[tuple[str, str]]], average: Means) -> list[Row]:
    """What the bank holds (Table 2): passages, their lengths and perplexity (the data's is of true, normal ones).

    Parameters
    ----------
    queries : sequence of Query
        With all passages.
    flaws : mapping
        By question, passages that cannot be used, with the reason.
    average : Means

    Returns
    -------
    list of dict
        author (`question` for the questions themselves), truth, style, words, words_low, words_high, words_sd,
        perplexity, perplexity_sd (NaN where none is known), passages, left_out.
    """
    by_id = {query.id: query for query in queries}
    groups: dict[tuple[str, str, str], list[tuple[str, Document]]] = defaultdict(list)
    for query in queries:
        for each in query.documents:
            groups[each.author, TRUTHS[each.is_helpful], style_of(each)].append((query.id, each))
    rows = [_lengths((QUESTION, "", ""), [(query.id, query.question) for query in queries], average)]
    rows[0] |= {"perplexity": np.nan, "perplexity_sd": np.nan, "left_out": 0}
    for key in sorted(groups):
        row = _lengths(key, [(question, each.text) for question, each in groups[key]], average)
        bad = {(question, passage) for question, found in flaws.items() for passage, _why in found}
        row["left_out"] = sum((question, each.id) in bad for question, each in groups[key])
        given = [_of_passage(by_id[question], each) for question, each in groups[key]]
        known = [value for value in given if not np.isnan(value)]
        row["perplexity"] = float(np.mean(known)) if known else np.nan
        row["perplexity_sd"] = float(np.std(known, ddof=1)) if len(known) > 1 else np.nan
        rows.append(row)
    return rows


def perplexities(queries: Sequence[Query], names: Sequence[str]) -> list[Row]:
    """Whether authors differ in perplexity (the tests of Table 2): `perplexity.compare`.

    Returns
    -------
    list of dict
        test (`anova` of all authors, `tukey` of each two), first, second, difference, low, high, statistic, p (Tukey's
        is corrected for all pairs), p_paired, n (questions), left_out. None where the data gives no perplexities.
    """
    given = {author: np.array([_perplexity(query, author) for query in queries]) for author in names}
    given = {author: values for author, values in given.items() if not np.isnan(values).all()}
    try:
        found = compare(given)
    except TooFewPassagesError:
        return []
    ends: Row = {"n": found.questions, "left_out": found.left_out}
    rows: list[Row] = [
        {"test": "anova", "first": "", "second": "", "difference": np.nan, "low": np.nan, "high": np.nan}
        | {"statistic": found.statistic, "p": found.p, "p_paired": np.nan}
        | ends
    ]
    for each in found.differences:
        row: Row = {"test": "tukey", "first": each.first, "second": each.second, "difference": each.difference}
        row |= {"low": each.low, "high": each.high, "statistic": np.nan, "p": each.p_tukey, "p_paired": each.p_paired}
        rows.append(row | ends)
    return rows


def outcomes(found: Iterable[tuple[str, str, int]]) -> list[Row]:
    """What became of everything that was asked, or left out before.

    Parameters
    ----------
    found : iterable of (str, str, int)
        Part, reason ("" where there is a result), attempts (0: never asked).

    Returns
    -------
    list of dict
        part, outcome (`at_once`, `asked_again`, or the reason why there is none), count, attempts (all of them).
    """
    counts: Counter[tuple[str, str]] = Counter()
    attempts: Counter[tuple[str, str]] = Counter()
    for part, reason, tries in found:
        key = part, reason or ("at_once" if tries <= 1 else "asked_again")
        counts[key] += 1
        attempts[key] += tries
    return [
        {"part": part, "outcome": outcome, "count": count, "attempts": attempts[part, outcome]}
        for (part, outcome), count in counts.items()
    ]


def examples(queries: Sequence[Query], names: Sequence[str], most: int = 2) -> list[Row]:
    """The passages of the first questions, beside each other (Figures 4 and 5): those with most kinds of passages.

    Returns
    -------
    list of dict
        question, text (the question's), author, truth, style, answer, words, passage.
    """
    kinds = {query.id: len({(p.author, p.is_helpful, style_of(p)) for p in query.documents}) for query in queries}
    chosen = sorted((query for query in queries if query.documents), key=lambda query: -kinds[query.id])[:most]
    order = {name: i for i, name in enumerate(names)}
    return [
        {
            "question": query.id,
            "text": query.question,
            "author": each.author,
            "truth": TRUTHS[each.is_helpful],
            "style": style_of(each),
            "answer": each.answer,
            "words": len(each.text.split()),
            "passage": each.text,
        }
        for query in chosen
        for each in sorted(query.documents, key=lambda p: (style_of(p), -order.get(p.author, -1), p.id))
    ]


def _published_level(given: StatedKnowledge) -> Knowledge:
    tries, right = len(given.recall.answers), given.published or 0
    return Knowledge.FULL if right == tries else Knowledge.PARTIAL if right else Knowledge.NONE


def _lengths(key: tuple[str, str, str], texts: Sequence[tuple[str, str]], average: Means) -> Row:
    words = [(question, float(len(text.split()))) for question, text in texts]
    found = average.of(words)
    deviation = float(np.std([value for _question, value in words], ddof=1)) if len(words) > 1 else np.nan
    row: Row = {"author": key[0], "truth": key[1], "style": key[2], "passages": found.trials}
    return row | {"words": found.value, "words_low": found.low, "words_high": found.high, "words_sd": deviation}


def measured(query: Query, perplexity: Mapping[str, float]) -> Query:
    """A question of whose passages a model's perplexity is known, by their ids, in the place of what the data says."""
    normal = {each.author: perplexity.get(each.id) for each in query.documents if _is_plain(each)}
    return replace(query, facts={**query.facts, "perplexity": normal, "perplexities": dict(perplexity)})


def _is_plain(passage: Document) -> bool:
    """Whether it is what authors are compared by: true, in the normal style."""
    return bool(passage.is_helpful) and style_of(passage) == Style.NORMAL


def _of_passage(query: Query, passage: Document) -> float:
    known = query.facts.get("perplexities")
    if known is None:
        return _perplexity(query, passage.author) if _is_plain(passage) else np.nan
    return float(known.get(passage.id, np.nan))


def _perplexity(query: Query, author: str) -> float:
    value = query.facts.get("perplexity", {}).get(author)
    return np.nan if value is None else float(value)
