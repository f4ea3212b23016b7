"""Tables and charts about how people and models write: lengths, citations along ranks and text, reading ease, logs."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Figure, Table, count, estimate

STYLE = Column("style", _("Style"), words="style")
ORIGIN = Column("origin", _("Origin"), words="origin")
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
LENGTHS = {
    "words": _("Words"),
    "statements": _("Statements"),
    "cited_passages": _("Cited passages"),
    "citations_per_passage": _("Citations per cited passage"),
    "passages_per_statement": _("Passages per statement"),
}
EASES = {
    "flesch": _("Response"),
    "source_flesch": _("Cited passages"),
    "difference": _("Difference"),
}
PASSAGES = {"cited": _("cited"), "uncited": _("not cited")}
PROCESS = {
    "seconds": _("Time (s)"),
    "active_seconds": _("Active time (s)"),
    "pauses": _("Pauses"),
    "bursts": _("Bursts"),
    "pastes": _("Pastes"),
    "pasted_share": _("Share pasted"),
    "revisions": _("Revisions"),
    "paused_seconds": _("Paused (s)"),
    "burst_characters": _("Characters per burst"),
    "typing_rate": _("Typed characters per minute"),
    "produced": _("Characters produced"),
    "deleted": _("Characters deleted"),
    "immediate_revisions": _("Immediate revisions"),
    "at_once_share": _("Share that came at once"),
    "passage_share": _("Share taken from passages"),
    "elsewhere_share": _("Share from elsewhere"),
    "passages_opened": _("Passages opened"),
    "passage_seconds": _("Passages in view (s)"),
    "searches": _("Searches"),
    "absences": _("Times away"),
    "away_seconds": _("Away (s)"),
}
PROCESS_SHARES = {"pasted_share", "at_once_share", "passage_share", "elsewhere_share"}
DISTRIBUTION = (Column("statistic", _("Statistic"), words=STATISTICS), estimate("value", _("Value"), n="n"))

TABLES = {
    "lengths": Table(
        "writing",
        _("Lengths of responses"),
        _(
            "Distribution of space-separated words, statements and distinct cited passages over responses, of the "
            "citations of a cited passage, and of the passages that a statement cites, by style and origin; responses "
            "under {min_words} words left out. 95 % bootstrap intervals over topics."
        ),
        (STYLE, ORIGIN, Column("measure", _("Measure"), words=LENGTHS), *DISTRIBUTION, count("n", _("n"))),
        across=("statistic",),
    ),
    "readability": Table(
        "writing",
        _("Reading ease"),
        _(
            "Distribution of Flesch's reading ease over responses (median of a response's statements), over what they "
            "cite (median of the passages that its statements cite), and of the difference of the two, by style and "
            "origin. 95 % bootstrap intervals over topics."
        ),
        (STYLE, ORIGIN, Column("measure", _("Text"), words=EASES), *DISTRIBUTION, count("n", _("Responses"))),
        across=("statistic",),
    ),
    "citation_rank_medians": Table(
        "writing",
        _("Median rank of cited passages"),
        _(
            "Median rank of the passages that a response cites, and of those that it does not; mean over responses, "
            "with 95 % bootstrap intervals over topics. Ranks count from 0."
        ),
        (
            STYLE,
            ORIGIN,
            Column("passages", _("Passages"), words=PASSAGES),
            estimate("median_rank", _("Median rank"), n="n", digits=1),
            count("n", _("Responses")),
        ),
        across=("passages",),
    ),
    "citation_density": Table(
        "writing",
        _("Citations along the text"),
        _(
            "How densely statements with citations end along a response's text, cut into {density_bins} equal parts: 1 "
            "throughout if they were spread evenly. By style and origin, with 95 % bootstrap intervals over topics."
        ),
        (
            STYLE,
            ORIGIN,
            Column("bin", _("Part"), 0, is_key=True),
            Column("start", _("From"), 2),
            Column("end", _("To"), 2),
            estimate("density", _("Density"), n="n"),
            Column("per_response", _("Per response"), 2),
            count("n", _("Statements")),
        ),
        whole=False,
    ),
    "writing_process_means": Table(
        "writing",
        _("Writing process, means"),
        _(
            "Mean and median over responses of what their logs say, by style and origin, with 95 % bootstrap intervals "
            "over topics. What a log does not record is left out."
        ),
        (STYLE, ORIGIN, Column("measure", _("Measure"), words=PROCESS), *DISTRIBUTION, count("n", _("Logs"))),
        across=("statistic",),
    ),
}

FIGURES = {
    "lengths": Figure(
        "writing",
        _("Lengths of responses"),
        _(
            "Words, statements and distinct cited passages of responses by style and origin: median, quartiles (box) "
            "and 5th to 95th percentile (line). Responses under {min_words} words are left out."
        ),
        _("Box plots of words, statements and cited passages, a row for each style and a box for each origin."),
    ),
    "citation_ranks": Figure(
        "writing",
        _("Citations by rank"),
        _(
            "Probability that the passage at a rank (from 0) is cited, by origin and style, with 95 % bootstrap "
            "intervals over topics."
        ),
        _("Lines of citation probability over rank, a panel for each style and a line for each origin."),
    ),
    "citation_rank_medians": Figure(
        "writing",
        _("Median rank of cited passages"),
        _(
            "Median rank of the passages that responses cite (filled) and do not cite (open), mean over responses, by "
            "style and origin, with 95 % bootstrap intervals over topics."
        ),
        _("Points of the median rank of cited and uncited passages, a panel for each style."),
    ),
    "citation_density": Figure(
        "writing",
        _("Citations along the text"),
        _(
            "Relative density of citations over the normalised text, by style and origin, with 95 % bootstrap "
            "intervals over topics; at 1 they would be spread evenly."
        ),
        _("Lines of citation density from the beginning to the end of the text, a panel for each style."),
    ),
    "readability": Figure(
        "writing",
        _("Reading ease"),
        _(
            "Share of responses by Flesch's reading ease (the higher, the easier): of the response's statements, and "
            "of the passages that they cite, by origin."
        ),
        _("Distributions of reading ease of responses and of cited passages, a panel for each origin."),
    ),
    "survey": Figure(
        "study",
        _("Survey"),
        _("Share of each answer by question, with 95 % bootstrap intervals over topics."),
        _("Bars of the share of each answer, a panel for each question."),
    ),
    "writing_process": Figure(
        "writing",
        _("Writing process"),
        _("What writing logs say of each response: the share of logs by measure, with the median as a line."),
        _("Histograms of measures of writing logs, a panel for each measure, with a line at the median."),
    ),
}
