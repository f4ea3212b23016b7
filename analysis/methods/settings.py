"""What a run computes with: its parameters, and its sources of chance."""

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
#: Parameters that a preset fixes, by its name.
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
        Whose judgments are analysed.
    resamples : int
        Bootstrap resamples of topics behind every interval.
    restarts, refine : int
        Random starts of MACE, and rounds of search after them (0: the published procedure).
    spam_threshold : float
        The corrected crowd leaves out judgments of participants whose spam probability on the dimension exceeds this.
    k : int or None
        From how many votes of a presented pair, the first ones, agreement is computed; None: as many as its campaign
        asked for. Competence, labels and grades follow from all votes.
    min_words : int
        Shorter responses are non-responses, left out of length statistics.
    fix_known : bool
        Whether labels known beforehand (of gold items) are fixed in MACE.
    least_competent : float
        The other rule of correction leaves out this share of those who judged a dimension,
    kept_votes : int
        but so many votes of each pair stay, whoever gave them.
    first_positions : int
        So many items of a questionnaire are its first half where order effects across items are asked for.
    density_bins : int
        Into so many equal parts a text is cut to say where in it citations stand.
    reuse_limit : float
        Below this BLEU (0 to 100) a statement is not taken for a copy of what it cites; the published one is 25.
    least_topics : int
        Participants graded on fewer topics have a merit, but no rank.
    grades_from : str
        What responses are graded by: the "gold" labels of their pairs, or the "votes", each weighted by the competence
        of who gave it.
    labels : str
        "averaged": labels and competences are averaged over all optima of MACE, and grades over draws of labels;
        "likeliest": they are those of the likeliest optimum found, which refitting always follows.
    bootstrap : str
        "conditional": intervals hold the competences as fitted; "refit": every resample fits competences, labels and
        grades anew.
    resample : str
        "topics", or "topics+workers": judges are drawn too, beside the topics.
    preset : str
        "published" fixes the parameters that make the procedure of the published corpus (`PRESETS`); "" fixes none.
    bertscore : str
        Whose BERTScores are used, of those that stand: `MODEL` or `MODEL:LAYER`; "" for the model that was used last,
        "none" for none.
    """

    pool: str = parameter(
        Judges.CROWD.value,
        "Judges",
        "choice",
        choices=tuple(Judges.choices),
        in_form=False,
        help="Whose judgments to analyse.",
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
        "Votes per pair for agreement",
        "integer",
        least=1,
        most=32_767,
        help="Empty: the number that the campaign asked for.",
    )
    least_competent: float = parameter(
        0.25, "Share of people excluded by the alternative correction", "number", least=0, most=1
    )
    kept_votes: int = parameter(
        3, "Minimum votes per pair in the alternative correction", "integer", least=1, most=1000
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
        help="Participants graded on fewer topics have a merit, but no rank on the leaderboard.",
    )
    fix_known: bool = parameter(
        True,
        "Known labels",
        "flag",
        choices=(("yes", "fixed"), ("no", "not used")),
        help="Labels of gold items, if campaigns have any.",
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
        choices=((GOLD, "gold labels"), (VOTES, "votes, weighted by competence")),
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
        """Whether labels are others in each resample."""
        return self.bootstrap == REFIT or self.resample == TOPICS_AND_WORKERS

    @classmethod
    def read(cls, parameters: dict[str, Any]) -> "AnalysisSettings":
        """Read a run's parameters; what it does not name has its default."""
        if unknown := sorted(set(parameters) - set(PARAMETERS)):
            names = ", ".join(sorted(PARAMETERS))
            raise BadParameterError(f"An analysis has no parameter {unknown[0]!r}. Parameters: {names}.")
        return cls(**PRESETS.get(parameters.get("preset", ""), {}) | parameters)

    def write(self) -> dict[str, Any]:
        """All parameters, defaults too, as a run keeps them."""
        return asdict(self)


#: The parameters of an analysis by name, in the order in which forms ask for them.
PARAMETERS: dict[str, Parameter] = {parameter.name: parameter for parameter in parameters_of(AnalysisSettings)}
