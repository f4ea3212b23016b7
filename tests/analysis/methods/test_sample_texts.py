"""Text reuse and readability of the sample: as sacrebleu has it, and as published."""

from itertools import groupby

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from analysis.inputs import arrays
from analysis.inputs.texts import ResponseText, TopicTexts, digest
from analysis.methods.response_groups import Resampling
from analysis.methods.settings import AnalysisSettings
from analysis.methods.text_reuse import compute
from analysis.text.readability import flesch
from tests.analysis import sample_texts

pytestmark = pytest.mark.skipif(
    not sample_texts.DATA, reason="CROWDRAG_DATA is not set: the sample of CrowdRAG-25 is not at hand"
)
SOME = 5  # of the sample's 150 topics; the soak test takes all
STYLES = ("bullet", "essay", "news")


def read(topics: int | None) -> tuple[arrays.Inputs, list[TopicTexts]]:
    """The sample's responses as an analysis has them."""
    names = sorted({each.topic for each in sample_texts.texts()})[:topics]
    chosen = [each for each in sample_texts.texts() if each.topic in names]
    responses = tuple(
        arrays.Response(each.name, each.topic, each.style, each.origin, "w", 250, digest(each.text)) for each in chosen
    )
    read = [
        TopicTexts(topic, tuple(ResponseText(place, each.text, each.parsed, each.passages, 0) for place, each in group))
        for topic, group in groupby(enumerate(chosen), key=lambda pair: pair[1].topic)
    ]
    return arrays.Inputs("CROWD", tuple(names), STYLES, (), responses, {}), read


@pytest.mark.extended
@pytest.mark.parametrize("topics", [SOME, pytest.param(None, marks=pytest.mark.soak)])
def test_text_reuse_is_that_of_sacrebleu_and_as_published(topics):
    about, texts = read(topics)
    pairs = compute.read(texts)
    library = BLEU(lowercase=True, max_ngram_order=8, effective_order=True)
    expected = [
        library.sentence_score(statement.text, written.passages[place].split("\n")).score
        for topic in texts
        for written in topic.responses
        for statement in written.parsed.statements
        for place in statement.citations
    ]
    assert np.abs(pairs.bleu - expected).max() < 1e-9
    settings = AnalysisSettings(resamples=50)
    shares = compute.share_rows(about, pairs, 25.0, Resampling.of(about.responses, settings, 0))
    of = {(row["style"], row["origin"]): row["share"] for row in shares}
    # Figure 3: models hardly reach 25; people copy most into lists, least into essays.
    assert of["all", "model"] > 0.99
    assert of["bullet", "human"] < of["news", "human"] < of["essay", "human"] < 1


@pytest.mark.extended
def test_people_write_as_easily_as_what_they_cite_and_models_do_not():
    """Figure 5: around 50 for people and passages, a little above 20 for models."""
    _about, texts = read(SOME)
    eases: dict[str, list[float]] = {"human": [], "model": [], "passage": []}
    for topic in texts:
        for written in topic.responses:
            statements = [flesch(each.text) for each in written.parsed.statements]
            eases[_about.responses[written.index].origin].append(float(np.nanmedian(statements)))
        eases["passage"] += [flesch(passage) for passage in topic.responses[0].passages]
    means = {name: np.nanmean(values) for name, values in eases.items()}
    assert means["model"] < means["human"] - 10
    assert abs(means["human"] - means["passage"]) < 10
    assert 40 < means["passage"] < 65
