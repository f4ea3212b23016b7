"""Tables, charts and the page of text reuse and metrics, of a small study from its texts on."""

import pgtrigger
import pytest
from sacrebleu.metrics import BLEU

from analysis.figures import figure
from analysis.figures.vega_lite import Labels
from analysis.inputs import queries
from analysis.inputs.texts import Texts
from analysis.methods.context import Context
from analysis.methods.reference_metrics import compute as reference_metrics_compute
from analysis.methods.reference_metrics import figures as reference_metrics_figures
from analysis.methods.settings import AnalysisSettings
from analysis.methods.text_reuse import compute as text_reuse_compute
from analysis.methods.text_reuse import figures as text_reuse_figures
from crowdrag.studies.enums import Role
from tests.analysis import small_study
from tests.analysis.page_visits import visit
from tests.analysis.small_study import analyse
from tests.factories import PassageFactory, RetrievedPassageFactory
from writing.models import Response

pytestmark = pytest.mark.django_db
PASSAGES = (
    "The river floods the old town each spring.\nPeople move uphill then.",
    "A dog barks loudly at night in town.",
)
TEXTS = {
    "x": "The river floods the old town each spring [0]. A dog barks [1].",
    "y": "Water comes in spring [0, 1]. So it is said.",
    "z": "Rivers flood towns [0]. [1]",
}
LIBRARY = BLEU(lowercase=True, max_ngram_order=8, effective_order=True)


@pytest.fixture
def study():
    return study_of(TEXTS)


def study_of(texts):
    """A judged study whose responses read so, by the last letter of their names."""
    made = small_study.make()
    for topic in made.topics.all():
        for rank, text in enumerate(PASSAGES):
            passage = PassageFactory(study=made, text=f"{text} Of {topic.external_id}.")
            RetrievedPassageFactory(topic=topic, passage=passage, rank=rank)
    with pgtrigger.ignore("writing.Response:text_never_changes"):
        for response in Response.objects.filter(study=made):
            Response.objects.filter(pk=response.pk).update(text=texts[response.external_id[-1]])
    return made


def reuse_of(study, **parameters):
    """The tables of text reuse by name, without the rest of an analysis."""
    inputs, settings = queries.load(study), AnalysisSettings(resamples=30, **parameters)
    return text_reuse_compute.compute_tables(Context(inputs, Texts(study, inputs), settings, 0, {}, {}, lambda _: None))


def test_every_statement_meets_what_it_cites_and_scores_as_sacrebleu_has_it(study):
    rows = {(row["response"], row["statement"], row["passage"]): row for row in reuse_of(study)["text_reuse"]}
    assert [key for key in rows if key[0] == "t1-y"] == [("t1-y", 0, 0), ("t1-y", 0, 1)]
    lines = f"{PASSAGES[0]} Of t2.".split("\n")
    expected = LIBRARY.sentence_score("The river floods the old town each spring.", lines).score
    assert rows["t2-x", 0, 0]["bleu"] == pytest.approx(expected, abs=1e-9)
    empty = rows["t1-z", 1, 1]
    assert (empty["bleu"], empty["note"]) == (None, text_reuse_compute.NO_WORDS)


def test_shares_are_of_the_pairs_below_the_limit(study):
    tables = reuse_of(study)
    scores = tables["text_reuse"]
    shares = {(row["style"], row["origin"]): row for row in tables["text_reuse_shares"]}
    human = [row["bleu"] for row in scores if row["response"][-1] in "xz" and row["bleu"] is not None]
    assert shares["all", "human"]["n"] == len(human) == shares["bullet", "human"]["n"]
    assert shares["all", "human"]["share"] == pytest.approx(sum(bleu < 25 for bleu in human) / len(human))
    assert shares["essay", "model"]["share"] == 1.0
    assert {row["limit"] for row in shares.values()} == {25.0}
    assert shares["all", "human"]["low"] <= shares["all", "human"]["share"] <= shares["all", "human"]["high"]
    assert {row["share"] for row in reuse_of(study, reuse_limit=0)["text_reuse_shares"]} == {0.0}


def test_texts_without_citations_have_no_reuse():
    assert reuse_of(study_of(dict.fromkeys("xyz", "Nothing is cited here."))) == {}
    labels = Labels({}, {})
    with pytest.raises(figure.EmptyChartError):
        text_reuse_figures.text_reuse({"text_reuse": [], "responses": []}, labels, {}, {})
    with pytest.raises(figure.EmptyChartError):
        reference_metrics_figures.reference_metrics({"reference_metrics": [{"rho": None}]}, labels, {}, {})


@pytest.mark.extended
def test_the_page_gives_reasons_once_and_where_they_belong(study):
    """What it shows of the demo study is golden."""
    analyse(study)
    text = visit(study, "metrics/", Role.EDITOR).content.decode()
    assert f'action="/studies/{study.slug}/results/bertscore/start/"' in text
    # What the section about BERTScore says is not said of each number again.
    assert reference_metrics_compute.NO_BERTSCORE[1:] not in text
    study = study_of(dict.fromkeys("xyz", "All of them say the same [0]."))
    analyse(study)
    assert reference_metrics_compute.UNRANKED in dict(visit(study, "metrics/").context["notes"])
