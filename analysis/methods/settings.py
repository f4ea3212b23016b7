"""Settings of a run, and its random generators."""

from dataclasses import asdict, dataclass
from typing import Any

from analysis.stats.random_streams import named_rng
from annotation.enums import Judges

from ..parameters import BadParameterError, Parameter, parameter, parameters_of

__all__ = ["AnalysisSettings", "BadParameterError", "named_rng"]

GOLD, VOTES = "gold", "votes"
AVERAGED, LIKELIEST = "averaged", "likeliest"
CONDITIONAL, REFIT = "conditional", "refit"
TOPICS, TOPICS_AND_WORKERS = "topics", "topics+workers"
PUBLISHED = "published"
#: How much better a person may be than a model that stands in, as the alternative annotator test proposes.
EPSILON_OF_CROWD, EPSILON_OF_EXPERTS = 0.1, 0.2
#: Parameters that a preset fixes, by the name of the preset.
PRESETS: dict[str, dict[str, Any]] = {
    PUBLISHED: {
        "restarts": 20,
        "refine": 0,
        "labels": LIKELIEST,
        "spam_threshold": 0.7,
        "grades_from": GOLD,
        "bootstrap": CONDITIONAL,
        "resample": TOPICS,
    }
}


@dataclass(frozen=True)
class AnalysisSettings:
    """Parameters of an analysis; the defaults are those of docs/methods.

    Attributes
    ----------
    pool : str
        Pool of judgments to analyse.
    resamples : int
        Number of bootstrap resamples of topics for every interval.
    restarts, refine : int
        Random starts of MACE, and rounds of search after them (0: the published procedure).
    spam_threshold : float
        The corrected crowd excludes participants on dimensions where their spam probability exceeds this.
    k : int or None
        Number of votes of each presented pair (the first ones) used for agreement; None: as many as its campaign
        requested. Competences, labels and grades use all votes.
    min_words : int
        Shorter responses are non-responses and are left out of length statistics.
    fix_known : bool
        Whether known labels (of gold items) are fixed in MACE.
    least_competent : float
        The other correction rule excludes this share of the judges of a dimension,
    kept_votes : int
        but keeps at least this many votes of each pair.
    first_positions : int
        Number of items in the first part of a questionnaire, for order effects across items.
    density_bins : int
        Number of equal parts of a text in which citations are counted.
    reuse_limit : float
        A statement below this BLEU (0 to 100) is not considered copied from its source; 25 in the publication.
    least_topics : int
        Systems graded on fewer topics have a merit, but no rank.
    grades_from : str
        Basis of the grades: "gold" labels of pairs, or "votes", each weighted by the voter's competence.
    labels : str
        "averaged": average labels and competences over all optima of MACE, and grades over draws of labels;
        "likeliest": use the most likely optimum found, as refitting always does.
    bootstrap : str
        "conditional": intervals keep the fitted competences; "refit": fit competences, labels and grades again in every
        resample.
    resample : str
        "topics", or "topics+workers" to draw judges too.
    preset : str
        "published" sets the parameters of the published corpus (`PRESETS`); "" sets none.
    epsilon : float or None
        How much better than a model a person may be in the alternative annotator test; None: by pool.
    bertscore : str
        Which of the stored BERTScores to use: `MODEL` or `MODEL:LAYER`; "" for the model used last, "none" for none.
    """

    pool: str = parameter(
        Judges.CROWD.value,
        "Judges",
        "choice",
        choices=tuple(Judges.choices),
        help="Whose judgments to analyse. Automatic: the crowd's, or if it has not judged, the experts' or models'.",
    )
    preset: str = parameter(
        "",
        "Preset",
        "choice",
        choices=(("", "none"), (PUBLISHED, "published procedure")),
        help="The published procedure overrides some settings below. Its labels depend on the seed.",
    )
    resamples: int = parameter(1000, "Bootstrap resamples", "integer", least=1, most=100_000)
    restarts: int = parameter(20, "Restarts of MACE", "integer", least=1, most=1000)
    refine: int = parameter(
        6,
        "Search rounds after the restarts",
        "integer",
        least=0,
        most=100,
        help="The published procedure uses 0.",
    )
    spam_threshold: float = parameter(0.7, "Maximum spam probability", "number", least=0, most=1)
    k: int | None = parameter(
        None,
        "Judgments per pair for agreement",
        "integer",
        least=1,
        most=32_767,
        help="Empty: the number that the campaign asked for.",
    )
    least_competent: float = parameter(
        0.25, "Share of judges excluded by the alternative correction", "number", least=0, most=1
    )
    kept_votes: int = parameter(
        3, "Minimum judgments per pair in the alternative correction", "integer", least=1, most=1000
    )
    first_positions: int = parameter(
        7,
        "Number of first items of a questionnaire",
        "integer",
        least=1,
        most=1000,
        help="For order effects, compared with the later items.",
    )
    min_words: int = parameter(
        50,
        "Minimum words of a response",
        "integer",
        least=0,
        most=10_000,
        help="Shorter texts are left out of lengths and counted as non-responses.",
    )
    density_bins: int = parameter(20, "Number of text parts for citation positions", "integer", least=2, most=200)
    reuse_limit: float = parameter(
        25.0,
        "Minimum BLEU of copied text",
        "number",
        least=0,
        most=100,
        help="BLEU of a statement against a passage that it cites.",
    )
    least_topics: int = parameter(
        1,
        "Minimum topics for a rank",
        "integer",
        least=1,
        most=10_000,
        help="Systems graded on fewer topics have a merit, but no rank on the leaderboard.",
    )
    fix_known: bool = parameter(
        True,
        "Known labels",
        "flag",
        choices=(("yes", "fixed"), ("no", "not used")),
        help="Labels that you gave in advance to check judges, if campaigns have any. Gold labels are inferred.",
    )
    labels: str = parameter(
        AVERAGED,
        "Labels and competences",
        "choice",
        choices=((AVERAGED, "averaged over all optima"), (LIKELIEST, "from the most likely optimum")),
        help="Refitting in resamples always uses the most likely optimum.",
    )
    grades_from: str = parameter(
        GOLD,
        "Grades based on",
        "choice",
        choices=((GOLD, "gold labels"), (VOTES, "judgments, weighted by competence")),
    )
    bootstrap: str = parameter(
        CONDITIONAL,
        "Competences and labels in resamples",
        "choice",
        choices=((CONDITIONAL, "not refitted"), (REFIT, "refitted")),
        help="Refitting takes about one more minute for 1,000 resamples of 30,000 judgments.",
    )
    resample: str = parameter(
        TOPICS,
        "Resampling over",
        "choice",
        choices=((TOPICS, "topics"), (TOPICS_AND_WORKERS, "topics and judges")),
    )
    epsilon: float | None = parameter(
        None,
        "Benefit of a model judge (epsilon)",
        "number",
        least=0,
        most=1,
        help=(
            "How much better a person may be for a model to stand in. "
            f"Empty: {EPSILON_OF_CROWD} for the crowd, {EPSILON_OF_EXPERTS} for experts."
        ),
    )
    bertscore: str = parameter(
        "", "BERTScores", "text", help="Choose from existing scores. An analysis does not compute BERTScores."
    )  # fmt: skip

    def __post_init__(self) -> None:
        self._check_preset()
        for declared in PARAMETERS.values():
            declared.check(getattr(self, declared.name))

    def _check_preset(self) -> None:
        if self.preset not in ("", *PRESETS):
            raise BadParameterError(f"There is no preset {self.preset!r}. Choose one of {', '.join(PRESETS)}.")
        for name, value in PRESETS.get(self.preset, {}).items():
            if getattr(self, name) != value:
                raise BadParameterError(
                    f"The preset {self.preset!r} sets {name} to {value!r}. Remove {name} or the preset."
                )

    @property
    def averages(self) -> bool:
        """Whether labels are averaged over the optima."""
        return self.labels == AVERAGED and self.bootstrap != REFIT

    @property
    def redraws(self) -> bool:
        """Whether labels vary between resamples."""
        return self.bootstrap == REFIT or self.resample == TOPICS_AND_WORKERS

    @classmethod
    def read(cls, parameters: dict[str, Any]) -> "AnalysisSettings":
        """Read the parameters of a run; missing ones have their defaults."""
        if unknown := sorted(set(parameters) - set(PARAMETERS)):
            names = ", ".join(sorted(PARAMETERS))
            raise BadParameterError(f"An analysis has no parameter {unknown[0]!r}. Parameters: {names}.")
        return cls(**PRESETS.get(parameters.get("preset", ""), {}) | parameters)

    def write(self) -> dict[str, Any]:
        """Return all parameters, including defaults, as stored with a run."""
        return asdict(self)


#: Parameters of an analysis by name, in the order of forms.
PARAMETERS: dict[str, Parameter] = {parameter.name: parameter for parameter in parameters_of(AnalysisSettings)}
