"""Columns that the tables of several methods have."""

from django.utils.translation import gettext_lazy as _

from analysis.enums import Coders

from ..tables.table import Column, estimate

STATISTICS = {
    "mean": _("mean"),
    "sd": _("standard deviation"),
    "p05": _("5th percentile"),
    "lower_quartile": _("lower quartile"),
    "median": _("median"),
    "upper_quartile": _("upper quartile"),
    "p95": _("95th percentile"),
    "share": _("share"),
    "rho": _("rho"),
}
CODERS = {coders.value: coders.label for coders in Coders}
DIMENSION = Column("dimension", _("Dimension"), words="dimension")
STYLE = Column("style", _("Style"), words="style")
ORIGIN = Column("origin", _("Origin"), words="origin")
RESPONSE = Column("response", _("Response"), words="response")
DISTRIBUTION = (Column("statistic", _("Statistic"), words=STATISTICS), estimate("value", _("Value"), n="n"))
