"""Tables of competence and gold labels: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from analysis.enums import Label

from ...tables.table import Column, Holds, Table, count
from ..shared_columns import DIMENSION

LABELS = {label.value: label.label for label in Label}

COMPETENCE = Table(
    "competence",
    _("Competence of the judges"),
    _("Spam probability of each participant on each dimension (MACE); competence is 1 minus it."),
    (
        Column("participant", _("Participant"), words="participant"),
        DIMENSION,
        Column("spam_probability", _("Spam probability"), 2),
        count("judgments", _("Judgments")),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    meanings={
        "spam_probability": "MACE's e0; competence is 1 minus it. Method: `methods/competence.md`",
        "judgments": "of this participant on this dimension, that count",
    },
)
MACE = Table(
    "mace",
    _("How well competences are determined"),
    _(
        "The fit of MACE by dimension: log likelihood of the best fit, of the best and the worst of {restarts} "
        "random restarts and their standard deviation, the mean share of restarts that give a pair the same "
        "label, and whether the likelihood had settled."
    ),
    (
        DIMENSION,
        Column("log_likelihood", _("Log likelihood"), 1),
        Column("best_restart", _("Best restart"), 1),
        Column("worst_restart", _("Worst restart"), 1),
        Column("spread", _("Spread"), 2),
        Column("restart_agreement", _("Same label"), 2),
        count("iterations", _("Iterations")),
        Column("converged", _("Settled")),
    ),
    about=(
        "How well the competences of a dimension are determined: `log_likelihood` of the fit, `best_restart` and "
        "`worst_restart` of the random restarts, their standard deviation (`spread`), the mean share of restarts "
        "that give a pair the same label as the fit (`restart_agreement`), `iterations`, and whether the "
        "likelihood had settled (`converged`). After the 20 restarts a search goes on from the best of them for 6"
        " rounds (`refine`; 0 is the published procedure): the fit is never worse than the best restart."
    ),
)
GOLD = Table(
    "gold",
    _("Labels of the pairs"),
    _("Of each presented pair and dimension how probable each label is, and the most probable one."),
    (
        Column("response_a", _("Left response"), words="response"),
        Column("response_b", _("Right response"), words="response"),
        DIMENSION,
        Column("p_a", _("Left"), 2),
        Column("p_n", _("Neither"), 2),
        Column("p_b", _("Right"), 2),
        Column("label", _("Label"), words=LABELS),
    ),
    is_whole=False,
    holds=Holds.PSEUDONYMS,
    about="One row a presented pair and dimension.",
    meanings={
        "response_a, response_b": "left and right, as presented; the reverse order is another pair",
        "p_a, p_n, p_b": "probability that a, neither, b is the true label. 0 where the dimension forces a choice",
        "label": "`a`, `n` or `b`: the most probable",
    },
)

TABLES = (
    COMPETENCE,
    MACE,
    GOLD,
)
