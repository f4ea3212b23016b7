"""Tables of text reuse: columns and captions."""

from ...tables.table import Column, Holds, Table, count
from ..shared_columns import ORIGIN, RESPONSE, STYLE

TEXT_REUSE = Table(
    "text_reuse",
    "Text reuse",
    "Sentence-BLEU (orders up to 8) of each statement with each passage that it cites. 100 is an exact copy.",
    (
        RESPONSE,
        Column("statement", "Statement", 0, is_key=True),
        Column("passage", "Passage", 0, is_key=True),
        Column("bleu", "BLEU", 1),
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
    "Text reuse by limit",
    (
        "Share of pairs of a statement and a cited passage with sentence-BLEU (orders up to 8) below a "
        "limit, by style and origin. With 95 % intervals over topics. A statement counts as "
        "copied if its BLEU is {reuse_limit} or more."
    ),
    (
        STYLE,
        ORIGIN,
        Column("limit", "Limit", 0),
        Column("share", "Share below", 1, low="low", high="high", n="n", is_share=True),
        count("n", "Pairs"),
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
