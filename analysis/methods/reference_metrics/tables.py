"""Tables of reference-based metrics: columns and captions."""

from dataclasses import dataclass

from ...tables.table import Column, Table, count, estimate


@dataclass(frozen=True)
class Metric:
    """A metric: its label, and its name in the methods text."""

    label: str
    citation: str


#: By name as in tables, in the order of pages and files.
METRICS = {
    "bertscore": Metric("BERTScore", "BERTScore F1 [@zhang2020]"),
    "bleu": Metric("BLEU", "sentence-BLEU [@post2018]"),
    "rouge_l": Metric("ROUGE-L", "ROUGE-L F1 with stemming [@lin2004]"),
    "chrf": Metric("chrF", "chrF2 [@popovic2015]"),
}
RANKINGS = {"full": "full ranking", "best_worst": "best and worst"}

REFERENCE_METRICS = Table(
    "reference_metrics",
    "Reference-based metrics",
    (
        "Spearman's rho between the rankings of a topic's responses by a metric and by grades. The "
        "reference is the topic's best response, and the others are candidates. Rankings include all "
        "candidates, or only the best and the worst of them. Mean over topics with 95 % bootstrap "
        "intervals. Topics that cannot be ranked are left out."
    ),
    (
        Column("dimension", "Dimension", words="dimension"),
        Column("metric", "Metric", words={name: metric.label for name, metric in METRICS.items()}),
        Column("ranking", "Ranking", words=RANKINGS),
        estimate("rho", "Rho", n="topics"),
        count("topics", "Topics"),
        count("left_out", "Left out"),
    ),
    across=("metric", "ranking"),
    unprinted=("left_out",),
    meanings={
        "metric": (
            "`bleu`, `rouge_l`, `chrf`, `bertscore`. Methods: `methods/reference-metrics.md`, "
            "`methods/bertscore.md`. BERTScores are those available when the run read its inputs. The run's "
            "`bertscore` gives their model, layer and version"
        ),
        "ranking": "`full`: all candidates; `best_worst`: only the best and the worst candidate",
        "rho, low, high": (
            "Spearman's rho of grades and scores, mean over topics. Empty, with a note, if nothing can be "
            "ranked or there are no scores"
        ),
        "topics": "number of topics behind rho",
        "left_out": "number of graded topics that cannot be ranked",
    },
)

TABLES = (REFERENCE_METRICS,)
