"""Tables of text reuse: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, Table, count
from ..shared_columns import ORIGIN, RESPONSE, STYLE

TEXT_REUSE = Table(
    "text_reuse",
    _("Text reuse"),
    _("Sentence-BLEU (orders up to 8) of each statement with each passage that it cites. 100 is an exact copy."),
    (
        RESPONSE,
        Column("statement", _("Statement"), 0, is_key=True),
        Column("passage", _("Passage"), 0, is_key=True),
        Column("bleu", _("BLEU"), 1),
    ),
    is_whole=False,
    holds=Holds.WRITING,
    about="One row per statement and cited passage. Method: `methods/text-reuse.md`.",
    meanings={
        "statement": "its position in the response, from 0; statements as in `methods/statements.md`",
        "passage": "the passage's rank in the author's list, from 0, as in citation markers",
        "bleu": (
            "sentence-BLEU up to order 8, 0 to 100; empty, with a note, if the statement or the passage has no words"
        ),
    },
)
TEXT_REUSE_SHARES = Table(
    "text_reuse_shares",
    _("Text reuse by limit"),
    _(
        "Share of pairs of a statement and a cited passage with sentence-BLEU (orders up to 8) below a "
        "limit, by style and origin. With 95 % bootstrap intervals over topics. A statement counts as "
        "copied from {reuse_limit}."
    ),
    (
        STYLE,
        ORIGIN,
        Column("limit", _("Limit"), 0),
        Column("share", _("Share below"), 1, low="low", high="high", n="n", is_share=True),
        count("n", _("Pairs")),
    ),
    across=("origin",),
    meanings={
        "style, origin": "`all`: all styles",
        "limit": "`reuse_limit`",
        "share, low, high": "share of scored pairs in `text_reuse` that are below the limit",
        "n": "pairs",
    },
)

TABLES = (
    TEXT_REUSE,
    TEXT_REUSE_SHARES,
)
