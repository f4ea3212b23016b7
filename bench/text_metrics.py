"""Text reuse, BLEU and ROUGE-L of all pairs of the sample against sacrebleu and rouge-score called once a pair."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from itertools import groupby, permutations

from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu
from sacrebleu.metrics import BLEU

from analysis.text.overlap import Bleu, RougeL
from analysis.text.reuse import lines_of, measure
from analysis.text.statements import without_markers
from tests.analysis import sample_texts

Pair = tuple[str, str, list[str]]  # topic, candidate, references
Score = Callable[[str, list[str]], float]


def run() -> list[dict]:
    """Measure the processor time of both, one after the other, which excludes other work on the machine."""
    if not sample_texts.DATA:
        return []
    statements, responses = _statements(), _responses()
    reuse_library = BLEU(lowercase=True, max_ngram_order=8, effective_order=True)
    bleu_kept = BLEU(effective_order=True)
    rouge_library = RougeScorer(["rougeL"], use_stemmer=True)
    return [
        *_compared(
            "Text reuse (order 8)", statements, measure, lambda c, rs: reuse_library.sentence_score(c, rs).score
        ),
        *_compared("BLEU of responses", responses, Bleu, lambda c, rs: sentence_bleu(c, rs).score),
        # The same with one sacrebleu object for all pairs, which caches tokens: a stronger baseline than once per pair.
        *_compared(
            "BLEU of responses, tokens kept by sacrebleu",
            responses,
            Bleu,
            lambda c, rs: bleu_kept.sentence_score(c, rs).score,
            target=3,
        ),
        *_compared(
            "ROUGE-L of responses", responses, RougeL, lambda c, rs: rouge_library.score(rs[0], c)["rougeL"].fmeasure
        ),
    ]


def _statements() -> list[Pair]:
    """Return every statement with every passage that it cites."""
    return [
        (each.topic, statement.text, lines_of(each.passages[place]))
        for each in sample_texts.texts()
        for statement in each.parsed.statements
        for place in statement.citations
        if lines_of(each.passages[place])
    ]


def _responses() -> list[Pair]:
    """Return all ordered pairs of a topic's judged responses: candidate and reference."""
    found: list[Pair] = []
    chosen = [each for each in sample_texts.texts() if each.name in sample_texts.judged()]
    for topic, group in groupby(chosen, key=lambda each: each.topic):
        for candidate, reference in permutations([without_markers(each.text) for each in group], 2):
            found.append((topic, candidate, [reference]))
    return found


def _ours(pairs: Sequence[Pair], make: Callable[[], Bleu | RougeL]) -> list[float]:
    """Score as an analysis does: the cache of prepared texts is created anew for each topic."""
    scores = []
    for _topic, group in groupby(pairs, key=lambda pair: pair[0]):
        held = make()
        for _, candidate, references in group:
            if isinstance(held, RougeL):
                scores.append(held.score(candidate, references[0]))
            else:
                scores.append(held.score(candidate, references))
    return scores


def _compared(
    name: str, pairs: Sequence[Pair], make: Callable[[], Bleu | RougeL], library: Score, *, target: float = 5
) -> list[dict]:
    _ours(pairs[:1], make)  # both import their libraries before the measurement
    library(pairs[0][1], pairs[0][2])
    began = time.process_time()
    ours = _ours(pairs, make)
    mine = time.process_time() - began
    began = time.process_time()
    theirs = [library(candidate, references) for _topic, candidate, references in pairs]
    peer = time.process_time() - began
    apart = max(abs(one - other) for one, other in zip(ours, theirs, strict=True))
    load = f"load {os.getloadavg()[0]:.1f}"
    return [
        {
            "name": f"{name}: times faster than the library once a pair",
            "ratio": peer / mine,
            "target": target,
            "detail": f"{len(pairs):,} pairs, {peer:.2f} s / {mine:.2f} s of process time; {load}",
        },
        {
            "name": f"{name}: 1e-9 over the largest difference in score",
            "ratio": 1e-9 / max(apart, 1e-16),
            "target": 1,
            "detail": f"apart by at most {apart:.1e}",
        },
    ]
