"""Surveys of writers before and after writing (crowdrag25, section 3.1.4), for any questions."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from analysis.stats.bootstrap import CORRELATION, UNBOUNDED, Floats, Statistic, weighted_mean
from analysis.stats.weighted import weighted_quantile, weighted_spearman

from ...inputs.arrays import Inputs, Ints
from ...tables.rows import NOTE, Row
from ..context import Context, Tables
from ..response_groups import Resampling, cells, with_reason

#: Questions with more distinct answers are not scales; their answers are not listed individually.
MOST_OPTIONS = 11

Answers = dict[tuple[str, str], tuple[Ints, Floats]]


def compute_tables(analysed: Context) -> Tables:
    """Compute the survey tables; none without answers."""
    inputs = analysed.inputs
    answers = _by_question(inputs)
    if not answers:
        return {}
    return {"survey": survey_rows(inputs, answers, analysed.topics_of_responses)}


def survey_rows(inputs: Inputs, answers: Answers, resampling: Resampling) -> list[Row]:
    """Compute mean, median and shares of each question, and the correlations between questions."""
    topic = resampling.places(inputs.responses)
    names = _names(answers)
    rows: list[Row] = []
    for question, (response, value) in answers.items():
        kind, name = question[0], names[question]
        data = (topic[response], resampling.topics)
        statistics = {"mean": weighted_mean(value, *data), "median": weighted_quantile(value, *data, 0.5)}
        for statistic, function in statistics.items():
            about = {"kind": kind, "question": question[1], "statistic": statistic, "option": None}
            rows.append(_row(f"{name}_{statistic}", resampling, function, len(value), about))
        options = sorted(set(value.tolist()))
        for option in options if len(options) <= MOST_OPTIONS else ():
            about = {"kind": kind, "question": question[1], "statistic": "share", "option": option}
            share = weighted_mean((value == option).astype(np.float64), *data)
            rows.append(_row(f"{name}_share_{option:g}", resampling, share, len(value), about))
    for one, other in combinations(answers, 2):
        rows.append(_together(one, other, names, answers, topic, resampling))
    return rows


def _together(
    one: tuple[str, str],
    other: tuple[str, str],
    names: dict[tuple[str, str], str],
    answers: Answers,
    topic: Ints,
    resampling: Resampling,
) -> Row:
    """Compute Spearman's rho between the answers to two questions about the same responses."""
    shared, first, second = np.intersect1d(answers[one][0], answers[other][0], return_indices=True)
    rho = weighted_spearman(answers[one][1][first], answers[other][1][second], topic[shared], resampling.topics)
    kind = one[0] if one[0] == other[0] else f"{one[0]}, {other[0]}"
    about = {"kind": kind, "question": f"{one[1]}, {other[1]}", "statistic": "rho", "option": None}
    row = _row(f"{names[one]}_{names[other]}_rho", resampling, rho, len(shared), about)
    if row["value"] is None:
        row[NOTE] = "all answers to one of the questions are the same, or fewer than two people answered both"
    return row


def _row(name: str, resampling: Resampling, statistic: Statistic, n: int, about: Row) -> Row:
    bounds = CORRELATION if about["statistic"] == "rho" else UNBOUNDED
    interval = resampling.interval(statistic, share=about["statistic"] == "share", bounds=bounds)
    return with_reason({"name": name} | cells(interval, n) | about, str(about["statistic"]), interval.clusters)


def _by_question(inputs: Inputs) -> Answers:
    """Return responses and answers of each question, only the first answer for each response."""
    answers_by_question: dict[tuple[str, str], dict[int, float]] = {}
    for answer in inputs.answers:
        answers_by_question.setdefault((answer.kind, answer.question), {}).setdefault(answer.response, answer.value)
    return {
        question: (
            np.array(list(answer_of_response), dtype=np.int64),
            np.array(list(answer_of_response.values()), dtype=np.float64),
        )
        for question, answer_of_response in sorted(answers_by_question.items())
    }


def _names(questions: Sequence[tuple[str, str]] | Answers) -> dict[tuple[str, str], str]:
    """Return the label of each question; questions asked twice include when they were asked."""
    names = [name for _kind, name in questions]
    return {
        question: question[1] if names.count(question[1]) == 1 else f"{question[0]}_{question[1]}"
        for question in questions
    }
