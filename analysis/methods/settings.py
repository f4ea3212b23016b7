"""What a run computes with: its parameters, and its sources of chance."""

from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

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
        _("Judges"),
        "choice",
        choices=tuple(Judges.choices),
        in_form=False,
        help=_("Whose judgments are analysed."),
    )
    preset: str = parameter(
        "",
        _("Preset"),
        "choice",
        choices=(("", _("none")), (PUBLISHED, _("published procedure"))),
        help=_("The published procedure replaces the settings below that it fixes. Its labels depend on the seed."),
    )
    resamples: int = parameter(1000, _("Bootstrap resamples"), "integer", least=1, most=100_000)
    restarts: int = parameter(20, _("Restarts of MACE"), "integer", least=1, most=1000)
    refine: int = parameter(
        6, _("Rounds of search after them"), "integer", least=0, most=100, help=_("0 is the published procedure.")
    )
    spam_threshold: float = parameter(0.7, _("Highest spam probability trusted"), "number", least=0, most=1)
    k: int | None = parameter(
        None,
        _("Votes of each pair that agreement is computed from"),
        "integer",
        least=1,
        most=32_767,
        help=_("Empty: as many as the campaign asked for."),
    )
    least_competent: float = parameter(
        0.25, _("Share of people that the other rule of correction leaves out"), "number", least=0, most=1
    )
    kept_votes: int = parameter(3, _("Votes of each pair that it keeps"), "integer", least=1, most=1000)
    first_positions: int = parameter(
        7,
        _("Items that are the first of a questionnaire"),
        "integer",
        least=1,
        most=1000,
        help=_("Against the later ones, for order effects."),
    )
    min_words: int = parameter(
        50,
        _("Words from which a text is a response"),
        "integer",
        least=0,
        most=10_000,
        help=_("Shorter ones are left out of lengths, and counted."),
    )
    density_bins: int = parameter(20, _("Parts of a text, for where citations stand"), "integer", least=2, most=200)
    reuse_limit: float = parameter(
        25.0,
        _("BLEU from which text counts as copied"),
        "number",
        least=0,
        most=100,
        help=_("Of a statement against a passage that it cites."),
    )
    least_topics: int = parameter(
        1,
        _("Topics from which a participant is ranked"),
        "integer",
        least=1,
        most=10_000,
        help=_("Who was graded on fewer has a merit, but no rank on the leaderboard."),
    )
    fix_known: bool = parameter(
        True,
        _("Labels known beforehand"),
        "flag",
        choices=(("yes", _("are fixed")), ("no", _("are not used"))),
        help=_("Of gold items, where campaigns have any."),
    )
    labels: str = parameter(
        AVERAGED,
        _("Labels and competences"),
        "choice",
        choices=((AVERAGED, _("averaged over all optima")), (LIKELIEST, _("of the likeliest optimum"))),
        help=_("Refitting in each resample uses the likeliest optimum."),
    )
    grades_from: str = parameter(
        GOLD,
        _("Responses are graded by"),
        "choice",
        choices=((GOLD, _("gold labels of their pairs")), (VOTES, _("votes, weighted by competence"))),
    )
    bootstrap: str = parameter(
        CONDITIONAL,
        _("In each resample, competences"),
        "choice",
        choices=((CONDITIONAL, _("stay as fitted")), (REFIT, _("and labels are fitted anew"))),
        help=_("Fitting anew takes about a minute longer for 1,000 resamples of 30,000 judgments."),
    )
    resample: str = parameter(
        TOPICS,
        _("Resamples draw"),
        "choice",
        choices=((TOPICS, _("topics")), (TOPICS_AND_WORKERS, _("topics and judges"))),
    )
    bertscore: str = parameter(
        "", _("BERTScores taken"), "text", help=_("Of those that stand: an analysis computes none.")
    )  # fmt: skip

    def __post_init__(self) -> None:
        self._check_preset()
        for declared in PARAMETERS.values():
            declared.check(getattr(self, declared.name))

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
        if unknown := sorted(set(parameters) - set(PARAMETERS)):
            names = ", ".join(sorted(PARAMETERS))
            raise BadParameterError(f"An analysis has no parameter {unknown[0]!r}; it has {names}.")
        return cls(**PRESETS.get(parameters.get("preset", ""), {}) | parameters)

    def write(self) -> dict[str, Any]:
        """All parameters, defaults too, as a run keeps them."""
        return asdict(self)


#: The parameters of an analysis by name, in the order in which forms ask for them.
PARAMETERS: dict[str, Parameter] = {parameter.name: parameter for parameter in parameters_of(AnalysisSettings)}
