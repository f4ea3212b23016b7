"""Tables of competence and gold labels: columns and captions."""

from analysis.enums import Label

from ...tables.table import Column, Holds, Table, count
from ..shared_columns import DIMENSION

LABELS = {label.value: label.label for label in Label}

COMPETENCE = Table(
    "competence",
    "Competence of judges",
    "Spam probability of each participant on each dimension (MACE). Competence is 1 minus spam probability.",
    (
        Column("participant", "Participant", words="participant"),
        DIMENSION,
        Column("spam_probability", "Spam probability", 2),
        count("judgments", "Judgments"),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    meanings={
        "spam_probability": "MACE's spam probability; competence is 1 minus it. Method: `methods/competence.md`",
        "judgments": "included judgments of this participant on this dimension",
    },
)
MACE = Table(
    "mace",
    "Fit of the competence model (MACE)",
    (
        "The fit of MACE by dimension: log likelihood of the best fit, and of the best and worst of "
        "{restarts} random restarts with their standard deviation. Same label: mean share of restarts "
        "with the same label for a pair as the best fit. Converged: whether the likelihood converged."
    ),
    (
        DIMENSION,
        Column("log_likelihood", "Log likelihood", 1),
        Column("best_restart", "Best restart", 1),
        Column("worst_restart", "Worst restart", 1),
        Column("spread", "Standard deviation", 2),
        Column("restart_agreement", "Same label", 2),
        count("iterations", "Iterations"),
        Column("converged", "Converged"),
    ),
    about=(
        "The fit of MACE on a dimension: `log_likelihood` of the fit, `best_restart` and `worst_restart` "
        "of the random restarts, their standard deviation (`spread`), the mean share of restarts that "
        "give a pair the same label as the fit (`restart_agreement`), `iterations`, and whether the "
        "likelihood converged (`converged`). After the 20 restarts, 6 rounds of search start from the "
        "best of them (`refine`; 0 is the published procedure). The fit is never worse than the best "
        "restart."
    ),
)
GOLD = Table(
    "gold",
    "Gold labels",
    "Probability of each label and the most probable label, by presented pair and dimension.",
    (
        Column("response_a", "Left response", words="response"),
        Column("response_b", "Right response", words="response"),
        DIMENSION,
        Column("p_a", "Left", 2),
        Column("p_n", "Neither", 2),
        Column("p_b", "Right", 2),
        Column("label", "Label", words=LABELS),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    about="One row per presented pair and dimension.",
    meanings={
        "response_a, response_b": "left and right response as presented; the reverse order is a separate pair",
        "p_a, p_n, p_b": (
            "probability that a, n (neither) or b is the true label; `p_n` is 0 if the dimension forces a choice"
        ),
        "label": "the most probable label: `a`, `n` or `b`",
    },
)

TABLES = (
    COMPETENCE,
    MACE,
    GOLD,
)
