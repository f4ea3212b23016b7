"""Tables of key figures: columns and captions."""

from ...tables.table import Column, Table, count, estimate

FIGURE = Column("name", "Figure", words="figure")

KEY_FIGURES = Table(
    "key_figures",
    "Key figures",
    (
        "Size of the study. Mean numbers of words have 95 % bootstrap intervals over topics. Texts under "
        "{min_words} words count as non-responses."
    ),
    (FIGURE, estimate("value", "Value", n="n"), Column("unit", "Unit"), count("n", "n")),
    meanings={
        "name": (
            "`topics`, `responses`, `responses_STYLE_ORIGIN`, `writers_ORIGIN`, `responses_per_writer_ORIGIN`, "
            "`non_responses` (under 50 words), `words_per_response` and `words_per_response_ORIGIN` (without non-"
            "responses); from logs or payments, if available: `active_minutes_per_response_STATISTIC`, "
            "`minutes_per_response_STATISTIC` (`median`, `mean`; logs of one event have neither), "
            "`pay_per_response`, `cost_per_response` (with fee and tax), `hourly_rate_writing`; `topics_judged`, "
            "`responses_judged`, `dimensions`, `pairs` (as presented), `pairs_in_both_orders`, "
            "`differentiable_share`, `judges`, `judgments`, `judgments_surplus`, `judgments_per_judge`, "
            "`judgments_expert`, `judgments_model`, `judgments_pointwise`; `questionnaires`, "
            "`judgments_per_questionnaire`, `minutes_per_questionnaire` (ours, else the platform's), "
            "`minutes_per_judgment`, `pay_per_questionnaire`, `cost_per_questionnaire`, `hourly_rate_judging`, "
            "`cost_per_judgment`, `cost_per_label`"
        ),
        "value, low, high": "a count or a mean; means over responses and pairs have an interval over topics",
        "n": "number of observations behind the value",
        "unit": "`min` or the study's currency; empty for counts",
    },
)

TABLES = (KEY_FIGURES,)
