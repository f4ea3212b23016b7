"""Tables of text reuse: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, Table, count
from ..shared_columns import ORIGIN, RESPONSE, STYLE

TEXT_REUSE = Table(
    "text_reuse",
    _("Text reuse"),
    _("Sentence-BLEU (orders up to 8) of each statement with each passage that it cites: 100 is a copy."),
    (
        RESPONSE,
        Column("statement", _("Statement"), 0, is_key=True),
        Column("passage", _("Passage"), 0, is_key=True),
        Column("bleu", _("BLEU"), 1),
    ),
    is_whole=False,
    holds=Holds.WRITING,
    about="One row a statement and passage that it cites. Method: `methods/text-reuse.md`.",
    meanings={
        "statement": "its place in the response, from 0; statements are counted as in `methods/statements.md`",
        "passage": "the passage's rank in the list that the author had, from 0, as citation markers name it",
        "bleu": "sentence-BLEU up to order 8, 0 to 100; empty, with a note, where one of the two has no words",
    },
)
TEXT_REUSE_SHARES = Table(
    "text_reuse_shares",
    _("Text reuse, shares"),
    _(
        "Share of the pairs of a statement and a passage that it cites whose sentence-BLEU (orders up to 8) is "
        "below a limit, by style and origin, with 95 % bootstrap intervals over topics. From {reuse_limit} on a "
        "statement counts as copied."
    ),
    (
        STYLE,
        ORIGIN,
        Column("limit", _("Limit"), 0),
        Column("share", _("Below it"), 1, low="low", high="high", n="n", is_share=True),
        count("n", _("Pairs")),
    ),
    across=("origin",),
    meanings={
        "style, origin": "`all` stands for all styles",
        "limit": "`reuse_limit`",
        "share, low, high": "of the pairs of `text_reuse` with a score, those below the limit",
        "n": "pairs",
    },
)

TABLES = (
    TEXT_REUSE,
    TEXT_REUSE_SHARES,
)
