"""Parameters of a plan: design, alternative designs, costs, assumptions."""

from dataclasses import asdict, dataclass, fields, replace
from itertools import product
from typing import Any, Final

from analysis.stats.designs import BadDesignError, Design

MOST_POINTS: Final = 40
MOST_VOTES: Final = 100_000  # per dimension, in the largest design
MOST_MONEY: Final = 10**12
#: What must be entered without an earlier analysis.
ASSUMPTIONS: Final = ("competence", "competence_spread", "preferred", "neutral")
#: The choice of the form that takes nothing from an analysis.
NO_SOURCE: Final = "no source, enter all values below"
#: Number of simulations of each design in the first round, which takes a few seconds.
FIRST: Final = 5


class BadPlanError(ValueError):
    """The plan is not possible; the message says what to change."""


@dataclass(frozen=True)
class PlanParameters:
    """Parameters of a plan.

    Attributes
    ----------
    topics, k : int
        Of the present design.
    more_topics, more_k : tuple of int
        Alternative numbers of topics and of judges.
    responses, styles, dimensions, forced, both_orders, pairs, items, questionnaires_per_person
        As in `analysis.stats.designs.Design`.
    minutes, pay, fee, tax : int
        Of one questionnaire; money in minor units.
    writing : int
        Cost of an additional response by a person in minor units; 0 if responses exist or are free.
    currency : str
    source : str or None
        Key of the analysis from which assumptions are taken.
    competence, competence_spread : float or None
        Mean and standard deviation of people's competence; None: as in the source.
    preferred : float or None
        Share won by the model among pairs of a human and a model response with a winner; None: as in the source.
    neutral : float or None
        Share of pairs in which neither response is better; None: as in the source.
    simulations : int
        Number of simulated studies of each design.
    """

    topics: int
    responses: int
    k: int = 5
    more_topics: tuple[int, ...] = ()
    more_k: tuple[int, ...] = ()
    styles: int = 1
    dimensions: int = 7
    forced: int = 1
    both_orders: float = 1 / 3
    pairs: int | None = None
    items: int = 15
    questionnaires_per_person: int = 1
    minutes: int = 25
    pay: int = 0
    fee: int = 0
    tax: int = 0
    writing: int = 0
    currency: str = "USD"
    source: str | None = None
    competence: float | None = None
    competence_spread: float | None = None
    preferred: float | None = None
    neutral: float | None = None
    simulations: int = 20

    def __post_init__(self) -> None:
        for name, (low, high) in BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise BadPlanError(f"{name} must be between {low:,} and {high:,}, not {value:,}.")
        if self.source is None and None in (getattr(self, name) for name in ASSUMPTIONS):
            raise BadPlanError(
                "Without an earlier analysis, enter all assumptions: mean competence, its standard deviation, "
                "pairs in which the model's response is better, and pairs in which neither is better."
            )
        self._check_designs()

    def _check_designs(self) -> None:
        points = self.points()
        if len(points) > MOST_POINTS:
            raise BadPlanError(f"You entered {len(points)} designs. At most {MOST_POINTS} can be simulated at once.")
        try:
            designs = [self.design(*point) for point in points]
        except BadDesignError as error:
            raise BadPlanError(f"This design is not possible: {error}.") from error
        votes = max(design.pairs_shown * design.k for design in designs)
        if votes > MOST_VOTES:
            raise BadPlanError(
                f"The largest design needs {votes:,} judgments on each dimension. At most {MOST_VOTES:,} can be "
                "simulated. Plan a smaller study: widths scale with one over the square root of the number of topics."
            )

    def points(self) -> list[tuple[int, int]]:
        """Designs to compare as (k, topics), sorted."""
        return sorted(product({self.k, *self.more_k}, {self.topics, *self.more_topics}))

    def design(self, k: int, topics: int) -> Design:
        """Return the design with `k` judges and `topics` topics."""
        same = {name: getattr(self, name) for name in _DESIGN}
        return Design(topics=topics, k=k, **same)

    @property
    def rounds(self) -> tuple[int, ...]:
        """Number of simulations of each design in each round: a few first, then the rest in two parts."""
        first = min(FIRST, self.simulations)
        left = self.simulations - first
        return tuple(n for n in (first, left // 2, left - left // 2) if n)

    @classmethod
    def read(cls, parameters: dict[str, Any]) -> "PlanParameters":
        """Read the parameters of a run.

        Raises
        ------
        BadPlanError
            If one is unknown, missing or out of range.
        """
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(parameters) - known):
            raise BadPlanError(f"A plan has no parameter {unknown[0]!r}. Parameters: {', '.join(sorted(known))}.")
        if missing := sorted({"topics", "responses"} - set(parameters)):
            raise BadPlanError(f"A plan needs {' and '.join(missing)}.")
        values: dict[str, Any] = dict(parameters)
        for name in {"more_topics", "more_k"} & set(values):
            values[name] = tuple(values[name])
        return cls(**values)

    def write(self) -> dict[str, Any]:
        """Return all parameters, as stored with a run."""
        return asdict(replace(self, more_topics=tuple(self.more_topics), more_k=tuple(self.more_k)))


_DESIGN: Final = (
    "responses", "styles", "dimensions", "forced", "both_orders", "pairs", "items", "questionnaires_per_person",
)  # fmt: skip
#: Ranges of parameters.
BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "topics": (2, 10_000),
    "responses": (2, 50),
    "k": (2, 100),
    "styles": (1, 20),
    "dimensions": (1, 20),
    "forced": (0, 20),
    "both_orders": (0, 1),
    "pairs": (1, 1225),
    "items": (1, 100),
    "questionnaires_per_person": (1, 1000),
    "minutes": (1, 600),
    "pay": (0, MOST_MONEY),
    "fee": (0, MOST_MONEY),
    "tax": (0, MOST_MONEY),
    "writing": (0, MOST_MONEY),
    "competence": (0.01, 0.99),
    "competence_spread": (0, 0.5),
    "preferred": (0.01, 0.99),
    "neutral": (0, 0.95),
    "simulations": (2, 1000),
}
