"""What a run computes with: its parameters, and its sources of chance."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from analysis.stats.random_streams import named_rng
from annotation.enums import Judges

__all__ = ["AnalysisSettings", "BadParameterError", "named_rng"]

GOLD, VOTES = "gold", "votes"
AVERAGED, LIKELIEST = "averaged", "likeliest"
CONDITIONAL, REFIT = "conditional", "refit"
TOPICS, TOPICS_AND_WORKERS = "topics", "topics+workers"
#: Parameters that are one of some words, the default first.
CHOICES = {
    "labels": (AVERAGED, LIKELIEST),
    "grades_from": (GOLD, VOTES),
    "bootstrap": (CONDITIONAL, REFIT),
    "resample": (TOPICS, TOPICS_AND_WORKERS),
}


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


class BadParameterError(ValueError):
    """A parameter of the analysis cannot be used."""


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

    pool: str = Judges.CROWD.value
    resamples: int = 1000
    restarts: int = 20
    refine: int = 6
    spam_threshold: float = 0.7
    k: int | None = None
    min_words: int = 50
    fix_known: bool = True
    least_competent: float = 0.25
    kept_votes: int = 3
    first_positions: int = 7
    density_bins: int = 20
    reuse_limit: float = 25.0
    least_topics: int = 1
    labels: str = AVERAGED
    grades_from: str = GOLD
    bootstrap: str = CONDITIONAL
    resample: str = TOPICS
    bertscore: str = ""
    preset: str = ""

    def __post_init__(self) -> None:
        self._check_preset()
        if self.pool not in Judges.values:
            raise BadParameterError(f"There is no pool {self.pool!r}; choose one of {', '.join(Judges.values)}.")
        bounds = {
            "resamples": (1, 100_000),
            "restarts": (1, 1000),
            "refine": (0, 100),
            "min_words": (0, 10_000),
            "first_positions": (1, 1000),
            "kept_votes": (1, 1000),
            "density_bins": (2, 200),
            "reuse_limit": (0, 100),
            "least_topics": (1, 10_000),
        }
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise BadParameterError(f"{name} must lie between {low} and {high:,}, it is {getattr(self, name)}.")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise BadParameterError(f"{name} is one of {', '.join(choices)}, not {getattr(self, name)!r}.")
        for name in ("spam_threshold", "least_competent"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadParameterError(f"{name} must lie between 0 and 1, it is {getattr(self, name)}.")
        if not isinstance(self.fix_known, bool):
            raise BadParameterError(f"fix_known must be true or false, it is {self.fix_known!r}.")
        if not isinstance(self.bertscore, str):
            raise BadParameterError(f"bertscore names a model, {self.bertscore!r} does not.")
        if self.k is not None and self.k < 1:
            raise BadParameterError(f"k must be at least 1, it is {self.k}.")

    def _check_preset(self) -> None:
        if self.preset not in ("", *PRESETS):
            raise BadParameterError(f"There is no preset {self.preset!r}; choose one of {', '.join(PRESETS)}.")
        for name, value in PRESETS.get(self.preset, {}).items():
            if getattr(self, name) != value:
                raise BadParameterError(
                    f"The preset {self.preset!r} sets {name} to {value!r}. Leave {name} out, or leave the preset out."
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
        known = {each.name for each in fields(cls)}
        if unknown := sorted(set(parameters) - known):
            raise BadParameterError(f"An analysis has no parameter {unknown[0]!r}; it has {', '.join(sorted(known))}.")
        return cls(**PRESETS.get(parameters.get("preset", ""), {}) | parameters)

    def write(self) -> dict[str, Any]:
        """All parameters, defaults too, as a run keeps them."""
        return asdict(self)
