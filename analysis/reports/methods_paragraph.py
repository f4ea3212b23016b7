"""The methods paragraph: what this run did, with which parameters, ready for a paper. Nothing that it did not do.

English whatever the page's language: a paper in another language translates it knowingly. Every sentence is made of the
run's parameters, its tables and the constants of the functions that computed them, so that it cannot say otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.enums import Coders, Split
from analysis.stats import bradley_terry, mace

from ..methods import captions
from ..methods.captions.judge_effects import MEASURES
from ..methods.settings import GOLD, REFIT, TOPICS_AND_WORKERS, AnalysisSettings
from ..tables.rows import Row
from . import bibliography
from .types import Methods

_METRICS = {
    "bleu": "sentence-BLEU [@post2018]",
    "rouge_l": "ROUGE-L F1 with stemming [@lin2004]",
    "bertscore": "BERTScore F1 [@zhang2020]",
}


def _lengths(facts: RunFacts) -> str:
    if not facts.has("responses"):
        return ""
    return (
        f"Words are separated by spaces; responses under {facts.settings.min_words} words are taken for non-responses "
        "and left out "
        "of statistics of length. A statement is the text before a citation marker, with the passages that the marker "
        "names."
    )


def _overlap(facts: RunFacts) -> str:
    said = []
    if facts.measured("citation_overlap", "jaccard"):
        said.append("the Jaccard coefficient of the sets of passages that two responses cite")
    if facts.measured("citation_order", "rho"):
        said.append("Spearman's rho between positions of the passages that both hold [@spearman1904]")
    if facts.measured("citation_ranks", "probability"):
        said.append("the probability that the passage at a rank is cited")
    return f"The choice of passages is described by {enumerated(said)}." if said else ""


def _reuse(facts: RunFacts) -> str:
    if not facts.has("text_reuse"):
        return ""
    return (
        "Text reuse is the lower-cased sentence-BLEU of a statement against the lines of each passage that it cites, "
        "with n-grams of "
        "up to eight words and effective order [@post2018]."
    )


def _readability(facts: RunFacts) -> str:
    told = "readability" not in facts.names or facts.measured("readability", "value")
    return "Readability is Flesch's reading ease [@flesch1948]." if facts.has("responses") and told else ""


def _process(facts: RunFacts) -> str:
    told = "writing_process_means" not in facts.names or facts.measured("writing_process_means", "value")
    if not (facts.has("writing_process") and told):
        return ""
    return (
        "From the writing logs we measured time, pauses, bursts, revisions, and the share of the text that was pasted."
    )


def _metrics(facts: RunFacts) -> str:
    found = [_METRICS.get(each, each) for each in facts.values("reference_metrics", "metric", "rho")]
    if encoder := facts.summary.get("bertscore"):
        found = [f"{each} (embeddings of {encoder})" if each == _METRICS["bertscore"] else each for each in found]
    if not found:
        return ""
    return (
        f"As reference-based metrics we computed {enumerated(found)} of each response against the best-graded "
        "response of its "
        "topic, and compared the ranking by metric with that by grades by Spearman's rho, averaged over topics "
        "[@spearman1904]."
    )


WRITING: tuple[Callable[[RunFacts], str], ...] = (_lengths, _overlap, _reuse, _readability, _process, _metrics)


def enumerated(parts: Sequence[str]) -> str:
    """Join parts as a sentence does: a, b, and c."""
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


CONDITIONAL = "conditional on the fitted competences"
_POOLS = {"CROWD": "the crowd", "EXPERT": "experts", "MODEL": "language models"}


@dataclass(frozen=True)
class RunFacts:
    """What a run did.

    Attributes
    ----------
    names : frozenset of str
        Its tables.
    rows : dict
        Rows of its small tables, by name.
    has_known : bool
        Whether some labels were known beforehand.
    """

    settings: AnalysisSettings
    seed: int
    code_version: str
    summary: Mapping[str, Any]
    names: frozenset[str]
    rows: Mapping[str, list[Row]]
    has_known: bool = False

    @property
    def is_judged(self) -> bool:
        """Whether the analysed pool held judgments."""
        return self.summary.get("judgments") != 0

    def has(self, table: str, **wanted: str) -> bool:
        """Say whether a table holds a row with these values; without values, whether it holds a row at all."""
        if not wanted:
            return bool(self.rows.get(table)) or (table in self.names and table not in self.rows)
        return any(row.items() >= wanted.items() for row in self.rows.get(table, []))

    def measured(self, table: str, column: str, **wanted: str) -> bool:
        """Say whether a table holds a number in this column (in rows with these values).

        A table may have rows that only say why there is no number: what they are about was not done. Of a large table,
        whose rows are not read here, one row is enough.
        """
        if table not in self.rows:
            return table in self.names and not wanted
        return any(row.items() >= wanted.items() and row.get(column) is not None for row in self.rows[table])

    @property
    def has_interval(self) -> bool:
        """Whether one number of the tables has an interval over topics."""
        return any(
            row[column] is not None
            for name, rows in self.rows.items()
            if captions.table(name).section != "planning"
            for row in rows
            for column in row
            if column == "low" or column.endswith("_low")
        )

    def values(self, table: str, column: str, measured: str) -> list[str]:
        """Return the values of a column, each once, in their order, of rows in which something was measured."""
        rows = self.rows.get(table, [])
        return list(dict.fromkeys(str(row[column]) for row in rows if row.get(measured) is not None))


def methods(facts: RunFacts) -> Methods:
    """Write what a run did."""
    written = [_paragraph(sentences, facts) for sentences in (JUDGED, GRADED, WRITING, MADE)]
    paragraphs = tuple(paragraph for paragraph in written if paragraph)
    return Methods(paragraphs, bibliography.cited(paragraphs))


def _paragraph(sentences: Iterable[Callable[[RunFacts], str]], facts: RunFacts) -> str:
    return " ".join(said for sentence in sentences if (said := sentence(facts)))


def _data(facts: RunFacts) -> str:
    sums = facts.summary
    if not facts.is_judged:
        figures = {row["name"]: row["value"] for row in facts.rows.get("key_figures", [])}
        return (
            f"We analysed {_count(figures, 'responses', 'response')} to {_count(figures, 'topics', 'topic')}, "
            "following the procedure of CrowdRAG-25 [@gienapp2025]; judgments of pairs had not been collected."
        )
    simulated = " of a simulated crowd" if sums.get("simulated") else ""
    who = _POOLS.get(facts.settings.pool, facts.settings.pool.lower())
    return (
        f"We analysed {_count(sums, 'judgments', 'judgment')}{simulated} that "
        f"{_count(sums, 'participants', 'participant')} "
        f"(pool: {who}) gave on {_count(sums, 'pairs', 'presented pair')} of responses to "
        f"{_count(sums, 'topics', 'topic')}, "
        f"following the procedure of CrowdRAG-25 [@gienapp2025]."
    )


def _votes(facts: RunFacts) -> str:
    if not facts.is_judged:
        return ""
    k = facts.settings.k
    first = f"the first {k} votes" if k else "the first votes, as many as its campaign had asked for,"
    rest = ", and competence and labels from all votes" if facts.measured("mace", "log_likelihood") else ""
    return (
        f"Agreement was computed from {first} of each presented pair{rest}; each order of a pair is a unit of its own."
    )


def _alpha(facts: RunFacts) -> str:
    if not facts.measured("agreement", "alpha"):
        return ""
    splits = ""
    if facts.measured("agreement", "alpha", split=Split.DIFFERENTIABLE):
        splits = (
            " We also report it for differentiable pairs, which have a majority (more than half of the votes) on more "
            "than "
            "four sevenths of the dimensions, and for the other, minimally differentiable ones."
        )
    return (
        "Agreement is Krippendorff's alpha at the ordinal level (left, neither, right), with participants as coders "
        "and "
        f"presented pairs as units [@krippendorff2011].{splits}"
    )


def _others(facts: RunFacts) -> str:
    said = [word for key, word in ((Coders.EXPERT, "of experts"), (Coders.POINTWISE, "of pointwise ratings"))
            if facts.measured("agreement", "alpha", coders=key)]  # fmt: skip
    return f"Beside it stands the agreement {enumerated(said)}." if said else ""


def _order(facts: RunFacts) -> str:
    if not facts.measured("order_effects", "alpha"):
        return ""
    return (
        "Order effects are told by the alpha of pairs that were judged in both orders, each order alone and both "
        "pooled, "
        f"and by that of the first {facts.settings.first_positions} items of a questionnaire and of the later ones."
    )


def _mace(facts: RunFacts) -> str:
    if not facts.measured("mace", "log_likelihood"):
        return ""
    fixed = mace.MaceSettings()
    known = " Labels of gold items known beforehand were fixed." if facts.settings.fix_known and facts.has_known else ""
    a, b = fixed.spam_prior
    model = (
        "The competence of each participant and the gold label of each pair were estimated with MACE, one model a "
        "dimension "
        f"[@hovy2013], with {{}}Beta({a:g}, {b:g}) priors on spamming and Dirichlet({fixed.strategy_prior:g}) "
        "priors on strategies, "
    )
    if facts.settings.averages:
        return (
            f"{model.format('')}averaged over all optima of the likelihood by a sequential Monte Carlo sampler with "
            "collapsed Gibbs sweeps [@delmoral2006] [@liu1994]. Gold labels are the most probable labels, and grades "
            f"are means over joint draws of the labels [@paun2018].{known}"
        )
    search = (
        f", followed by {facts.settings.refine} rounds of search from the best of them" if facts.settings.refine else ""
    )
    return (
        f"{model.format('variational M-steps, ')}as the likeliest of {facts.settings.restarts} random restarts of up "
        f"to {fixed.max_iter} iterations{search}.{known}"
    )


def _corrected(facts: RunFacts) -> str:
    if not facts.measured("agreement", "alpha", coders=Coders.CORRECTED):
        return ""
    quarter = ""
    if facts.measured("agreement", "alpha", coders=Coders.CORRECTED_QUARTER):
        quarter = (
            f" By the other rule the least competent {100 * facts.settings.least_competent:g} % of a dimension's "
            "judges are "
            f"left out, with at least {facts.settings.kept_votes} votes of each pair kept."
        )
    return (
        "The corrected crowd leaves out the judgments of participants whose spam probability on the dimension exceeds "
        f"{facts.settings.spam_threshold:g}.{quarter}"
    )


def _tau(facts: RunFacts) -> str:
    if not facts.measured("interdependence", "tau"):
        return ""
    return "The interdependence of two dimensions is Kendall's tau between their gold labels [@kendall1938]."


def _grades(facts: RunFacts) -> str:
    if not facts.measured("grade_means", "mean"):
        return ""
    model = bradley_terry.BradleyTerrySettings()
    source = "gold labels" if facts.settings.grades_from == GOLD else "votes, each weighted by its judge's competence,"
    return (
        f"From the {source} of each topic and dimension the responses' merits were fitted with the Bradley-Terry model "
        f"with ties [@rao1967] with a threshold of {model.threshold:g} on the log scale, regularised by a dummy of "
        "merit "
        f"{model.dummy_merit:g} against which every response wins and loses with a weight of {model.dummy_weight:g} "
        "[@gienapp2020]. A response's grade is its rank by ascending merit within its topic."
    )


def _tests(facts: RunFacts) -> str:
    if not facts.measured("grade_tests", "p"):
        return ""
    return (
        "Differences between grades were tested with Wilcoxon's signed-rank test, paired by topic [@wilcoxon1945], "
        "and p-values "
        "adjusted for multiple tests within the table by the procedure of Benjamini and Hochberg [@benjamini1995]."
    )


def _leaderboard(facts: RunFacts) -> str:
    if not facts.measured("leaderboard", "rank"):
        return ""
    spread = "; ranks have bootstrap intervals" if facts.measured("leaderboard", "rank_low") else ""
    return (
        "Participants are ranked by the merit of one such model a dimension over all topics, in which a participant "
        "stands "
        f"for all of their responses{spread}."
    )


def _models(facts: RunFacts) -> str:
    if not any(facts.measured("model_judges", each) for each in MEASURES):
        return ""
    names = {"combined": "all dimensions at once", "individual": "one dimension at a time"}
    asked = [names.get(each, each) for each in facts.values("model_judges", "inference", "items")]
    orders = " in both orders" if facts.measured("model_judges", "alpha_orders") else ""
    gold = (
        "; their agreement with the gold labels is Krippendorff's alpha with the model and the gold label as the two "
        "coders"
        if facts.measured("model_judges", "alpha_gold")
        else ""
    )
    return f"Language models judged the same pairs{orders}, asked for {enumerated(asked)}{gold}."


def _intervals(facts: RunFacts) -> str:
    if not facts.has_interval:
        return ""
    settings = facts.settings
    drawn = "topics and of the judges" if settings.resample == TOPICS_AND_WORKERS else "topics"
    how = ""
    if facts.measured("mace", "log_likelihood"):
        refitted = settings.bootstrap == REFIT
        how = f", {'with competences, labels and grades fitted anew in each' if refitted else CONDITIONAL}"
    return (
        f"Intervals are 95 % intervals: of agreement over topics and judges, from the variance of what each "
        f"two judgments "
        f"add [@cameron2011] [@aronow2015]; of shares by effective sample size [@korn1998]; of all else over "
        f"{settings.resamples:,} bootstrap resamples of the {drawn}{how}, as wide as few topics ask for "
        f"[@hesterberg2015]."
    )


def _software(facts: RunFacts) -> str:
    return f"All results were computed with CrowdRAG {facts.code_version} (seed {facts.seed})."


JUDGED: tuple[Callable[[RunFacts], str], ...] = (_data, _votes, _alpha, _others, _order, _mace, _corrected, _tau)
GRADED: tuple[Callable[[RunFacts], str], ...] = (_grades, _tests, _leaderboard, _models)
MADE: tuple[Callable[[RunFacts], str], ...] = (_intervals, _software)


def _count(sums: Mapping[str, Any], key: str, word: str) -> str:
    n = sums.get(key, 0)
    return f"{n:,} {word}{'' if n == 1 else 's'}"
