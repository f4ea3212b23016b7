"""Tables of the interdependence of dimensions: columns and captions."""

from ...tables.table import Column, Table, count, estimate

INTERDEPENDENCE = Table(
    "interdependence",
    "Interdependence of the dimensions",
    (
        "Kendall's tau-b between the gold labels of two dimensions on the same presented pairs, and the "
        "mean of each dimension with all others."
    ),
    (
        Column("dimension_1", "Dimension", words="dimension"),
        Column("dimension_2", "Other dimension", words="dimension"),
        estimate("tau", "Tau", n="items"),
        count("items", "Pairs"),
    ),
    across=("dimension_2",),
    meanings={
        "dimension_1, dimension_2": (
            "each two dimensions in both orders, as in a matrix; `dimension_2` `all`: the mean with all "
            "others; both `all`: the overall mean"
        ),
        "tau, low, high": "Kendall's tau-b between the gold labels. Method: `methods/interdependence.md`",
        "items": "number of presented pairs with both labels",
    },
)

TABLES = (INTERDEPENDENCE,)
