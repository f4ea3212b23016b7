"""The tables by name with their columns, fixed: scripts and papers read them (docs/results.md).

A row whose value is undefined carries null there and says why in one more column, `note`. What the columns are called,
and how a table is captioned, stands in `analysis.methods.captions`: a table that is added here is described there.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]

NOTE = "note"
# fmt: off
COLUMNS: dict[str, tuple[str, ...]] = {
    "key_figures": ("name", "value", "low", "high", "n", "unit"),
    "agreement": ("dimension", "split", "coders", "alpha", "low", "high", "items", "judgments"),
    "competence": ("participant", "dimension", "spam_probability", "judgments"),
    "gold": ("response_a", "response_b", "dimension", "p_a", "p_n", "p_b", "label"),
    "grades": ("topic", "response", "dimension", "merit", "se", "grade", "rank_low", "rank_high"),
    "grade_means": ("dimension", "style", "origin", "mean", "low", "high", "n"),
    "leaderboard": (
        "participant", "dimension", "mean_grade", "merit", "low", "high", "rank_low", "rank_high", "n",
        "rank", "kind", "origin", "topics", "mean_low", "mean_high", "group",
    ),
    "leaderboard_tests": (
        "dimension", "participant_1", "participant_2", "statistic", "p", "p_adjusted", "effect", "n",
        "effect_low", "effect_high", "difference", "difference_low", "difference_high",
    ),
    "grade_tests": (
        "dimension", "style", "comparison", "statistic", "p", "p_adjusted", "effect", "n",
        "effect_low", "effect_high", "difference", "difference_low", "difference_high",
    ),
    "order_effects": ("dimension", "effect", "part", "alpha", "low", "high", "items"),
    "order_differences": (
        "dimension", "effect", "largest", "largest_low", "largest_high", "difference", "low", "high", "items",
    ),
    "front_preferences": (
        "coders", "dimension", "pairs", "front_preference", "low", "high", "p", "p_adjusted", "n",
    ),
    "interdependence": ("dimension_1", "dimension_2", "tau", "low", "high", "items"),
    "reference_metrics": ("dimension", "metric", "ranking", "rho", "low", "high", "topics", "left_out"),
    "model_judges": (
        "participant", "inference", "dimension",
        "alpha_orders", "alpha_orders_low", "alpha_orders_high",
        "alpha_gold", "alpha_gold_low", "alpha_gold_high",
        "alpha_inference", "alpha_inference_low", "alpha_inference_high",
        "mean_rho", "mean_rho_low", "mean_rho_high",
        "front_preference", "front_preference_low", "front_preference_high",
        "items", "pairs_in_both_orders", "items_with_gold", "items_in_both_inferences", "choices",
    ),
    "model_self_preference": (
        "participant", "inference", "dimension",
        "model", "model_low", "model_high", "gold", "gold_low", "gold_high",
        "difference", "low", "high", "n", "undecided",
        "alpha_own", "alpha_own_low", "alpha_own_high", "items_own",
        "alpha_others", "alpha_others_low", "alpha_others_high", "items_others",
    ),
    "survey": ("name", "value", "low", "high", "n", "kind", "question", "statistic", "option"),
    "responses": (
        "response", "topic", "style", "origin", "words", "statements", "citations", "cited_passages", "flesch",
        "source_flesch",
    ),
    "citation_overlap": ("style", "pair", "jaccard", "low", "high", "n"),
    "citation_order": ("style", "pair", "rho", "low", "high", "n"),
    "citation_ranks": ("style", "origin", "rank", "probability", "low", "high", "n"),
    "citation_rank_medians": ("style", "origin", "passages", "median_rank", "low", "high", "n"),
    "citation_density": (
        "style", "origin", "bin", "density", "low", "high", "n", "start", "end", "per_response",
    ),
    "lengths": ("style", "origin", "measure", "statistic", "value", "low", "high", "n"),
    "readability": ("style", "origin", "measure", "statistic", "value", "low", "high", "n"),
    "text_reuse": ("response", "statement", "passage", "bleu"),
    "text_reuse_shares": ("style", "origin", "limit", "share", "low", "high", "n"),
    "writing_process": (
        "response", "seconds", "active_seconds", "pauses", "bursts", "pastes", "pasted_share", "revisions",
        "paused_seconds", "burst_characters", "typing_rate", "produced", "deleted", "immediate_revisions",
        "at_once_share", "passage_share", "elsewhere_share", "passages_opened", "passage_seconds", "searches",
        "absences", "away_seconds",
    ),
    "writing_process_means": ("style", "origin", "measure", "statistic", "value", "low", "high", "n"),
    "agreement_means": ("split", "coders", "alpha", "low", "high", "dimensions"),
    "plan": ("k", "topics", "measure", "value", "low", "high", "simulations"),
    "plan_costs": (
        "k", "topics", "present", "pairs", "presented", "questionnaires", "judgments", "people", "hours",
        "pay", "fee", "tax", "writing", "total", "currency",
    ),
    "plan_next": ("step", "k", "topics", "measure", "change", "low", "high", "money", "currency"),
    "fair_tradeoff": (
        "retriever", "curve", "slope", "slope_low", "slope_high", "area", "area_low", "area_high", "n", "left_out",
    ),
    "fair_intervals": (
        "retriever", "start", "end", "baseline", "utility", "difference", "low", "high", "p", "p_adjusted", "n",
        "left_out",
    ),
    "fair_alphas": (
        "retriever", "alpha_1", "alpha_2", "difference", "low", "high", "statistic", "p", "p_adjusted", "n",
    ),
    "fair_summary": ("retriever", "rank", "alpha", "measure", "value", "low", "high", "error", "n"),
    "fair_metrics": (
        "retriever", "rank", "alpha", "metric", "is_utility", "value", "low", "high", "error", "n",
    ),
    "fair_curves": ("retriever", "curve", "start", "end", "x", "y", "low", "high", "n"),
    "fair_queries": (
        "query", "retriever", "rank", "alpha", "items", "useful",
        "disparity", "relevance", "distance", "disparity_normalised", "relevance_normalised",
        "utility", "utility_error", "best", "utility_normalised", "utility_normalised_error",
        "attribution", "attribution_error", "attributed_disparity", "attributed_disparity_error",
        "attributed_normalised", "attributed_normalised_error", "lists", "generated",
    ),
    "fair_labels": ("query", "document", "without", "alone", "gain", "useful"),
    "fair_examples": (
        "query", "question", "gold", "retriever", "rank", "alpha", "documents", "answer", "utility",
    ),
    "fair_left_out": ("reason", "queries", "in_file", "named"),
    "fair_costs": (
        "step", "by", "is_standin", "rankings", "prompts", "prompt_tokens", "completion_tokens", "failed", "unreadable",
    ),
    "uplift_results": (
        "method", "metric", "value", "low", "high", "difference", "difference_low", "difference_high",
        "statistic", "p", "p_adjusted", "n",
    ),
    "uplift_ablations": (
        "variant", "metric", "value", "low", "high", "difference", "difference_low", "difference_high",
        "statistic", "p", "p_adjusted", "to_standard", "to_standard_low", "to_standard_high", "n",
    ),
    "uplift_inputs": (
        "method", "documents", "documents_low", "documents_high", "document_tokens", "document_tokens_low",
        "document_tokens_high", "counted", "document_ratio", "document_ratio_low", "document_ratio_high",
        "prompt_tokens", "prompt_tokens_low", "prompt_tokens_high", "ratio", "ratio_low", "ratio_high",
        "without_documents", "calls", "refused", "n",
    ),
    "uplift_categories": ("category", "documents", "share", "low", "high", "n"),
    "uplift_errors": ("method", "missing", "errors", "share", "low", "high", "n"),
    "uplift_found": ("method", "measure", "value", "low", "high", "n"),
    "uplift_order": (
        "method", "value", "low", "high", "difference", "difference_low", "difference_high", "statistic", "p",
        "p_adjusted", "n",
    ),
    "uplift_thresholds": (
        "threshold", "documents", "documents_low", "documents_high", "without_documents", "precision",
        "precision_low", "precision_high", "precision_n", "recall", "recall_low", "recall_high", "recall_n", "n",
    ),
    "uplift_transfer": (
        "documents_for", "answered_by", "metric", "value", "low", "high",
        "difference", "difference_low", "difference_high", "statistic", "p", "p_adjusted", "n",
    ),
    "uplift_examples": (
        "query", "question", "answers", "helpful", "method", "documents", "answer", "em", "f1",
    ),
    "uplift_training": (
        "split", "method", "documents", "helpful", "epochs", "best", "point_first", "point", "pair", "list",
        "held_out", "left_out", "file",
    ),
    "uplift_counts": ("name", "count"),
    "uplift_answers": ("query", "split", "method", "answer", "em", "f1", "documents", "prompt_tokens"),
    "mace": (
        "dimension",
        "log_likelihood",
        "best_restart",
        "worst_restart",
        "spread",
        "restart_agreement",
        "iterations",
        "converged",
    ),
    "self_preference_ratings": ("setting", "truth", "author", "mean", "low", "high", "sd", "questions", "n"),
    "self_preference_rating_tests": (
        "setting", "comparison", "author", "whose", "difference", "low", "high", "statistic", "p", "p_adjusted",
        "p_welch", "effect", "human", "model", "n",
    ),
    "self_preference_pairs": (
        "case", "author", "other", "whose", "presentation", "front", "front_low", "front_high",
        "own", "own_low", "own_high", "p", "p_adjusted", "questions", "n", "unresolved",
    ),
    "self_preference_factuality": (
        "case", "author", "other", "whose", "factual", "factual_low", "factual_high", "own", "own_low", "own_high",
        "questions", "n", "unresolved",
    ),
    "self_preference_by_knowledge": (
        "level", "factual", "factual_low", "factual_high", "questions", "n", "unresolved",
    ),
    "self_preference_styles": (
        "style", "author", "styled", "styled_low", "styled_high", "front", "front_low", "front_high",
        "p", "p_adjusted", "questions", "n", "unresolved",
    ),
    "self_preference_knowledge": ("model", "source", "level", "share", "low", "high", "count", "n"),
    "self_preference_recounted": ("model", "measure", "agree", "low", "high", "n"),
    "self_preference_exceptions": ("model", "question", "text", "truth", "answers", "published", "recounted"),
    "self_preference_bank": (
        "author", "truth", "style", "words", "words_low", "words_high", "words_sd", "perplexity", "perplexity_sd",
        "passages", "left_out",
    ),
    "self_preference_perplexity": (
        "test", "first", "second", "difference", "low", "high", "statistic", "p", "p_paired", "n", "left_out",
    ),
    "self_preference_scores": ("setting", "truth", "author", "score", "count", "share", "n"),
    "self_preference_told": ("case", "agree", "agree_low", "agree_high", "questions", "n", "unresolved"),
    "self_preference_outcomes": ("part", "outcome", "count", "attempts"),
    "self_preference_examples": ("question", "text", "author", "truth", "style", "answer", "passage", "words"),
}
# fmt: on


def number(value: float | np.floating) -> float | None:
    """A number as a table holds it: None for NaN; never -0.0, which the database would not keep."""
    result = float(value)
    return None if np.isnan(result) else result + 0.0


def numbers(values: NDArray[np.floating]) -> list[list[float | None]]:
    """The same of a table of numbers."""
    rows: list[list[float | None]] = (values + 0.0).tolist()
    return [[number(value) for value in row] for row in rows] if np.isnan(values).any() else rows  # type: ignore[arg-type]
