"""Columns that several methods use in their tables."""

from analysis.enums import Coders

from ..tables.table import Column, estimate

STATISTICS = {
    "mean": "mean",
    "sd": "standard deviation",
    "p05": "5th percentile",
    "lower_quartile": "lower quartile",
    "median": "median",
    "upper_quartile": "upper quartile",
    "p95": "95th percentile",
    "share": "share",
    "rho": "rho",
}
CODERS = {coders.value: coders.label for coders in Coders}
DIMENSION = Column("dimension", "Dimension", words="dimension")
STYLE = Column("style", "Style", words="style")
ORIGIN = Column("origin", "Origin", words="origin")
RESPONSE = Column("response", "Response", words="response")
DISTRIBUTION = (Column("statistic", "Statistic", words=STATISTICS), estimate("value", "Value", n="n"))
