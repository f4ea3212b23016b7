"""REPLUG: each document in a prompt of its own, the answers weighed by how well the retriever likes it (NAACL 2024).

Shi et al., section 3.2: p(y | q, D) = sum over d of lambda(q, d) p(y | d, q), lambda the softmax of retrieval scores,
computed token by token. So a model in this process (`Ensembling`) answers. A server that says how likely a given text
is (`Scoring`, vLLM) scores each document's answer by the same mean. Of other servers each document's answer has its
document's weight, answers that are equal when normalised are one, and the one with the largest sum is given.

Simplified: no training of the retriever by the generator (REPLUG LSR); AAR is the method here that learns from it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp, softmax

from ...generation.model import EnsembleGenerator
from ...protocols import Document, Floats, Generator, NoLikelihoodsError, Output, Prompt, Query, ScoringGenerator
from ...qa_metrics import normalised
from ..uplift_labels import prompt
from .protocol import AnswerSteps, Baseline, BaselineSettings, Form, MethodAnswer, Untrained, Work, reading

#: Its forms.
ENSEMBLE, LIKELIHOODS, VOTES = "replug_ensemble", "replug_likelihoods", "replug_votes"


class Replug(Untrained):
    """An ensemble over the first `Settings.feed` documents.

    Parameters
    ----------
    settings : Settings
    temperature : float
        What retrieval scores are divided by before the softmax: scores of BM25 differ by whole numbers, cosines by
        hundredths.
    """

    name = "replug"
    form = ENSEMBLE

    def __init__(self, settings: BaselineSettings | None = None, *, temperature: float = 1.0) -> None:
        super().__init__(settings)
        self.temperature = temperature

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Ask once a document. `prompt_tokens` is the sum over prompts. See `protocol.Method`."""
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
    """The answer token by token; None where the generator does not say what it expects at every token."""
    if not isinstance(generator, EnsembleGenerator):
        return None
    try:
        return generator.ensemble(prompts, weights)
    except NoLikelihoodsError:
        return None


def by_likelihood(
    generator: Generator, prompts: Sequence[Prompt], outputs: Sequence[Output], weights: Floats
) -> tuple[str, tuple[Output, ...]] | None:
    """The generated answer that the ensemble expects most, of a generator that scores texts but writes alone.

    Each answer is read after each document's prompt, and the documents' probabilities of every token are averaged by
    weight: what the ensemble's own decoding would compare, over the answers that there are instead of all texts.

    Parameters
    ----------
    generator : Generator
    asked : sequence of Prompt
        One a document.
    outputs : sequence of Output
        What was answered to each.
    weights : ndarray, shape (n_documents,)
        Of sum 1.

    Returns
    -------
    (str, tuple of Output) or None
        The answer whose mean log-likelihood a token is highest, of equal ones the first, and what asking took. None
        where the generator does not say it token by token, its tokens are not the same after all prompts, or there is
        no answer.
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
        values.append(float(logsumexp(np.stack(tokens), axis=0, b=weights[:, np.newaxis]).mean()))
    return answers[int(np.argmax(values))], scored.outputs


def weigh(documents: Sequence[Document], *, temperature: float = 1.0) -> Floats:
    """lambda(q, d): the softmax of retrieval scores over the documents; all equal if one has no score.

    Returns
    -------
    ndarray, shape (n_documents,)
        The sum is 1.

    Examples
    --------
    >>> weigh([Document("1", "", score=0.0), Document("2", "", score=float(np.log(3)))]).round(6).tolist()
    [0.25, 0.75]
    """
    scores = [document.score for document in documents if document.score is not None]
    if len(scores) < len(documents):
        return np.full(len(documents), 1 / len(documents))
    return np.asarray(softmax(np.array(scores, dtype=np.float64) / temperature))


def vote(outputs: Sequence[Output], weights: Floats) -> tuple[str, str]:
    """The answer that most weight stands behind, as its heaviest document has it, and why there is none.

    Parameters
    ----------
    outputs : sequence of Output
        What failed has no vote.
    weights : ndarray, shape (n_outputs,)

    Returns
    -------
    str, str
        The answer and ""; or "" and the first failure, if all failed. Of answers of equal weight the one that comes
        first.

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
