"""Tables of citations: columns and captions."""

from ...tables.table import Column, Table, count, estimate
from ..shared_columns import ORIGIN, STYLE

SETS = {
    "human_human": "human, human",
    "human_model": "human, model",
    "model_model": "model, model",
    "human_retrieved": "human, retrieved",
    "model_retrieved": "model, retrieved",
    "system_retrieved": "system, retrieved",
    "human_system": "human, system",
    "model_system": "model, system",
    "system_system": "system, system",
}
PASSAGES = {"cited": "cited", "uncited": "not cited"}

CITATION_OVERLAP = Table(
    "citation_overlap",
    "Overlap of cited passages",
    (
        "Mean Jaccard coefficient between two sets of cited or retrieved passages, by style, with 95 % "
        "bootstrap intervals over topics."
    ),
    (
        STYLE,
        Column("pair", "Sets", words=SETS),
        estimate("jaccard", "Jaccard", n="n"),
        count("n", "Pairs"),
    ),
    across=("style",),
    meanings={
        "style": "`all`: the mean over responses (or pairs) of all styles",
        "pair": (
            "`human_retrieved`, `model_retrieved`, `human_model`; if available also `system_retrieved`, "
            "`human_system`, `model_system`, and two responses of the same origin (`human_human`)"
        ),
        "jaccard, low, high": (
            "mean Jaccard coefficient of both sets of passages, or mean Spearman's rho of their positions. "
            "Method: `methods/writing-behaviour.md`"
        ),
        "n": "responses, or pairs of responses to one topic in one style, with a defined value",
    },
)
CITATION_ORDER = Table(
    "citation_order",
    "Citation order",
    (
        "Mean of Spearman's rho between the positions (of first citation, or rank) of passages that both "
        "sets share, by style. With 95 % bootstrap intervals over topics."
    ),
    (STYLE, Column("pair", "Sets", words=SETS), estimate("rho", "Rho", n="n"), count("n", "Pairs")),
    across=("style",),
    meanings={
        "style": "`all`: the mean over responses (or pairs) of all styles",
        "pair": (
            "`human_retrieved`, `model_retrieved`, `human_model`; if available also `system_retrieved`, "
            "`human_system`, `model_system`, and two responses of the same origin (`human_human`)"
        ),
        "rho, low, high": (
            "mean Jaccard coefficient of both sets of passages, or mean Spearman's rho of their positions. "
            "Method: `methods/writing-behaviour.md`"
        ),
        "n": "responses, or pairs of responses to one topic in one style, with a defined value",
    },
)
CITATION_RANKS = Table(
    "citation_ranks",
    "Citations by rank",
    (
        "Probability that the passage at a rank is cited, by style and origin, with 95 % bootstrap intervals "
        "over topics."
    ),
    (
        STYLE,
        ORIGIN,
        Column("rank", "Rank"),
        estimate("probability", "Cited", n="n"),
        count("n", "Responses"),
    ),
    across=("style", "origin"),
    meanings={
        "style, origin": "`all`: all styles",
        "rank, probability": "rank from 0; share of responses that cite the passage at this rank",
        "low, high, n": "n: responses",
    },
)
CITATION_RANK_MEDIANS = Table(
    "citation_rank_medians",
    "Median rank of cited passages",
    (
        "Median rank of the passages that a response cites and of those that it does not cite: mean over "
        "responses. With 95 % bootstrap intervals over topics. Ranks count from 0."
    ),
    (
        STYLE,
        ORIGIN,
        Column("passages", "Passages", words=PASSAGES),
        estimate("median_rank", "Median rank", n="n", digits=1),
        count("n", "Responses"),
    ),
    across=("passages",),
    meanings={
        "style, origin": "`all`: all styles",
        "passages, median_rank": (
            "`cited` or `uncited`; median rank of these passages in a response, mean over responses"
        ),
        "low, high, n": "n: responses",
    },
)
CITATION_DENSITY = Table(
    "citation_density",
    "Citation positions",
    (
        "Density of the ends of statements with citations in {density_bins} equal parts of a response's "
        "text. A density of 1 throughout means evenly spread citations. By style and origin, with 95 % "
        "bootstrap intervals over topics."
    ),
    (
        STYLE,
        ORIGIN,
        Column("bin", "Part", 0, is_key=True),
        Column("start", "From", 2),
        Column("end", "To", 2),
        estimate("density", "Density", n="n"),
        Column("per_response", "Per response", 2),
        count("n", "Statements"),
    ),
    is_whole=False,
    meanings={
        "style, origin, bin": "the part of the text, from 0",
        "density, low, high": "1 in every part means that citing statements end evenly along the text",
        "n": "number of citing statements in all parts",
        "start, end": "start and end of the part, as shares of the text",
        "per_response": "number of citing statements that end in the part, per response",
    },
)

TABLES = (
    CITATION_OVERLAP,
    CITATION_ORDER,
    CITATION_RANKS,
    CITATION_RANK_MEDIANS,
    CITATION_DENSITY,
)
