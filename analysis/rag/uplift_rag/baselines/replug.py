"""REPLUG: one prompt per document, with answers weighted by the retriever's scores (NAACL 2024).

Shi et al., section 3.2: p(y | q, D) = sum over d of lambda(q, d) p(y | d, q), lambda the softmax of retrieval scores,
computed token by token. This needs a model in this process (`EnsembleGenerator`). A server that returns the likelihood
of a given text (`ScoringGenerator`, vLLM) scores each document's answer by the same mean. For other servers, each
document's answer gets its document's weight, answers that are equal after normalisation are merged, and the answer
with the largest sum wins.

Simplified: the retriever is not trained by the generator (REPLUG LSR); AAR is the baseline that does this.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from ...generation.model import EnsembleGenerator
from ...protocols import Document, Floats, Generator, NoLikelihoodsError, Output, Prompt, Query, ScoringGenerator
from ...qa_metrics import normalised
from ..uplift_labels import prompt
from .protocol import AnswerSteps, Baseline, BaselineSettings, Form, MethodAnswer, Untrained, Work, reading

#: The forms of REPLUG.
ENSEMBLE, LIKELIHOODS, VOTES = "replug_ensemble", "replug_likelihoods", "replug_votes"


class Replug(Untrained):
    """An ensemble over the first `BaselineSettings.feed` documents.

    Parameters
    ----------
    settings : BaselineSettings
    temperature : float
        Divisor of retrieval scores before the softmax: BM25 scores differ by whole numbers, cosines by hundredths.
    """

    name = "replug"
    form = ENSEMBLE

    def __init__(self, settings: BaselineSettings | None = None, *, temperature: float = 1.0) -> None:
        super().__init__(settings)
        self.temperature = temperature

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer with one prompt per document; `prompt_tokens` is their sum. See `protocol.Method`."""
        fed = documents[: self.settings.feed]
        if not fed:
            return (yield from reading(query, (), self.settings))
        prompts = [prompt(query.question, [item], max_tokens=self.settings.max_tokens) for item in fed]
        weights = weigh(fed, temperature=self.temperature)
        ids = tuple(item.id for item in fed)
        output = _ensemble(generator, prompts, weights)
        if output is not None:
            return MethodAnswer(output.text, ids, output.prompt_tokens, (output,), output.error)
        outputs = yield prompts
        likeliest = by_likelihood(generator, prompts, outputs, weights)
        if likeliest is not None:
            text, scored = likeliest
            tokens = sum(item.prompt_tokens for item in outputs)
            return MethodAnswer(text, ids, tokens, (*outputs, *scored), "", LIKELIHOODS)
        text, error = vote(outputs, weights)
        return MethodAnswer(text, ids, sum(item.prompt_tokens for item in outputs), tuple(outputs), error, VOTES)


def _ensemble(generator: Generator, prompts: Sequence[Prompt], weights: Floats) -> Output | None:
    """Return the ensemble's answer, token by token; None if the generator gives no access to its token distribution."""
    if not isinstance(generator, EnsembleGenerator):
        return None
    try:
        return generator.ensemble(prompts, weights)
    except NoLikelihoodsError:
        return None


def by_likelihood(
    generator: Generator, prompts: Sequence[Prompt], outputs: Sequence[Output], weights: Floats
) -> tuple[str, tuple[Output, ...]] | None:
    """Return the generated answer most likely under the ensemble, for a generator that scores texts but not ensembles.

    Each answer is scored after each document's prompt, and the documents' probabilities of every token are averaged by
    weight. The ensemble's own decoding would compare the same values, but over all texts, not only the generated
    answers.

    Parameters
    ----------
    generator : Generator
    prompts : sequence of Prompt
        One per document.
    outputs : sequence of Output
        The output for each prompt.
    weights : ndarray, shape (n_documents,)
        Their sum is 1.

    Returns
    -------
    (str, tuple of Output) or None
        The answer with the highest mean log-likelihood per token, the first among ties, and the usage of scoring. None
        if the generator does not report single tokens, if its tokens differ between prompts, or if there is no answer.
    """
    answers = list(dict.fromkeys(output.text for output in outputs if output.text.strip() and not output.error))
    if not answers or not isinstance(generator, ScoringGenerator):
        return None
    pairs = [(prompt, answer) for answer in answers for prompt in prompts]
    try:
        scored = generator.score([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    except NoLikelihoodsError:
        return None
    values = []
    for index in range(len(answers)):
        tokens = scored.tokens[index * len(prompts) : (index + 1) * len(prompts)]
        if len({token.size for token in tokens}) != 1 or not tokens[0].size:
            return None
        values.append(float(scipy.special.logsumexp(np.stack(tokens), axis=0, b=weights[:, np.newaxis]).mean()))
    return answers[int(np.argmax(values))], scored.outputs


def weigh(documents: Sequence[Document], *, temperature: float = 1.0) -> Floats:
    """Compute lambda(q, d): the softmax of retrieval scores over the documents; equal weights if a score is missing.

    Returns
    -------
    ndarray, shape (n_documents,)
        Their sum is 1.

    Examples
    --------
    >>> weigh([Document("1", "", score=0.0), Document("2", "", score=float(np.log(3)))]).round(6).tolist()
    [0.25, 0.75]
    """
    scores = [document.score for document in documents if document.score is not None]
    if len(scores) < len(documents):
        return np.full(len(documents), 1 / len(documents))
    return np.asarray(scipy.special.softmax(np.array(scores, dtype=np.float64) / temperature))


def vote(outputs: Sequence[Output], weights: Floats) -> tuple[str, str]:
    """Return the answer with the largest total weight, in the wording of its heaviest document, or else the error.

    Parameters
    ----------
    outputs : sequence of Output
        Failed outputs have no vote.
    weights : ndarray, shape (n_outputs,)

    Returns
    -------
    str, str
        The answer and "", or "" and the first error if all failed. Among answers of equal weight, the first wins.

    Examples
    --------
    >>> vote([Output("Ada"), Output("Bob"), Output("bob.")], np.array([0.4, 0.35, 0.25]))
    ('Bob', '')
    """
    answered = [index for index, output in enumerate(outputs) if not output.error]
    if not answered:
        return "", outputs[0].error
    sums: dict[str, float] = {}
    for index in answered:
        answer = normalised(outputs[index].text)
        sums[answer] = sums.get(answer, 0.0) + float(weights[index])
    best = max(sums, key=lambda answer: sums[answer])
    index = max((p for p in answered if normalised(outputs[p].text) == best), key=lambda p: (weights[p], -p))
    return outputs[index].text, ""


BASELINE = Baseline(
    name="replug",
    title="REPLUG",
    does="prompts with each of the first documents alone and weights the predictions by the retriever's scores",
    make=Replug,
    forms=(
        Form(ENSEMBLE, "REPLUG"),
        Form(
            LIKELIHOODS,
            "after REPLUG (likelihoods of generated answers)",
            "The server does not generate as an ensemble. Of the answers to each single document, we took "
            "the most likely one by the weighted mean of the documents' token probabilities.",
        ),
        Form(
            VOTES,
            "after REPLUG (votes of answers)",
            "The generator does not return probabilities, so each answer had the weight of its document.",
        ),
        Form(
            "replug",
            "after REPLUG (ensemble or votes)",
            "The run does not record whether the generator's probabilities or its answers were weighted.",
        ),
    ),
    work=Work(
        "shi2024",
        "inproceedings",
        {
            "author": "Shi, Weijia and Min, Sewon and Yasunaga, Michihiro and Seo, Minjoon and James, Richard and "
            "Lewis, Mike and Zettlemoyer, Luke and Yih, Wen-tau",
            "title": "{REPLUG}: Retrieval-Augmented Black-Box Language Models",
            "booktitle": "Proceedings of NAACL 2024",
            "year": "2024",
            "url": "https://arxiv.org/abs/2301.12652",
        },
    ),
    asks=0,
)
