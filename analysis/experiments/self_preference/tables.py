"""Tables and charts of self-preference experiments (docs/methods/self-preference.md)."""

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Figure, LazyText, Table, count, estimate, named_estimate

SECTION = "self_preference"
#: What readers must know who compare a run on the published data with the paper.
EXCHANGED = _(
    "In the paper's Table 2 the perplexities of the two data sets are exchanged: the row of NQ has those "
    "of the file of MS MARCO, and the other way round. The files are right: their perplexities go with how rare the "
    "words of their own data set's passages are (rank correlation 0.26 to 0.43), and not with those of the other "
    "(about 0)."
)
SETTINGS = {"plain": _("plain"), "rag": _("for answering the question")}
TRUTHS: dict[str, LazyText] = {"true": _("true"), "false": _("false"), "unknown": _("not known"), "": ""}
STYLES = {"normal": _("normal"), "qa": _("from question and answer"), "long": _("long")}
COMPARISONS = {
    "both_true": _("true, true"),
    "model_false": _("true, the model's false"),
    "as_written": _("truth not known"),
}
CASES = {
    "all": _("all"),
    "same": _("both true or both false"),
    "both_true": _("both true"),
    "both_false": _("both false"),
    "as_written": _("truth not known"),
    "mixed": _("one true, one false"),
    "author_true": _("author's true, other's false"),
    "other_true": _("other's true, author's false"),
    "style": _("another style"),
}
PRESENTATIONS = {
    "both": _("both orders"),
    "author_first": _("author's first"),
    "author_last": _("author's second"),
}
LEVELS = {"none": _("no"), "partial": _("partial"), "full": _("full"), "all": _("overall")}
SOURCES = {"given": _("in the data"), "asked": _("asked")}
MEASURES = {"count": _("right answers"), "level": _("knowledge level")}
TESTS = {"anova": _("analysis of variance"), "tukey": _("Tukey's test")}
PARTS = {
    "bank": _("bank"),
    "build": _("writing passages"),
    "knowledge": _("asking without a passage"),
    "plain": _("rating, plain"),
    "rag": _("rating, for answering"),
    "readings": _("reading two passages"),
}
OUTCOMES = {
    "at_once": _("done at once"),
    "asked_again": _("done when asked again"),
    "no_text": _("no text (refused)"),
    "format": _("not in the form asked for"),
    "neither": _("answer of neither passage"),
    "both": _("answer of both passages"),
    "length": _("too short or too long"),
    "empty": _("empty passage"),
    "answer_missing": _("its answer does not stand in it"),
    "truth_left": _("false, but a true answer stands in it"),
    "indistinct": _("false answer cannot be told from the true one"),
    "false_answer_not_made": _("no false answer was made"),
    "same_text": _("same text as in another style"),
    "no_gold_answer": _("no right answer is known"),
    "no_human_passage": _("no true passage by people"),
}

AUTHOR, OTHER = Column("author", _("Author")), Column("other", _("Compared with"))
SETTING, TRUTH = (
    Column("setting", _("Prompt"), words=SETTINGS),
    Column("truth", _("Answer"), words=TRUTHS),
)
STYLE, CASE = Column("style", _("Style"), words=STYLES), Column("case", _("Passages"), words=CASES)
WHOSE = Column("whose", _("Who"), words={"own": _("the evaluator"), "others": _("another")})
QUESTIONS, READINGS = count("questions", _("Questions")), count("n", _("Readings"))
UNRESOLVED = count("unresolved", _("Not counted"))
P, P_ADJUSTED = Column("p", _("p"), 4), Column("p_adjusted", _("p adjusted"), 4)

TABLES = {
    "self_preference_ratings": Table(
        SECTION,
        _("Ratings"),
        _(
            "Mean rating (1 to 5) of passages by author and truth, with 95 % bootstrap intervals over questions, under "
            "a plain prompt and under one that asks how suitable a passage is for answering the question."
        ),
        (
            SETTING, TRUTH, AUTHOR,
            estimate("mean", _("Mean"), n="n"),
            Column("sd", _("Standard deviation"), 2),
            QUESTIONS,
            count("n", _("Passages")),
        ),
    ),
    "self_preference_rating_tests": Table(
        SECTION,
        _("People's passages less models'"),
        _(
            "Differences of ratings, human less model, on the same questions, with 95 % bootstrap intervals over "
            "questions: of true passages, and of people's true ones and models' false ones. p of Student's t-test "
            "paired "
            "by question, also adjusted by Benjamini and Hochberg within the table; beside it p of Welch's test, which "
            "takes both sides as independent. Effect: mean difference over its standard deviation. As Tables 3 and 4 "
            "of "
            "the paper."
        ),
        (
            SETTING,
            Column("comparison", _("Passages"), words=COMPARISONS),
            AUTHOR, WHOSE,
            estimate("difference", _("Difference"), n="n"),
            Column("human", _("People's mean"), 2),
            Column("model", _("Model's mean"), 2),
            Column("statistic", _("t"), 2),
            P, P_ADJUSTED,
            Column("p_welch", _("p, Welch"), 4),
            Column("effect", _("Effect"), 2),
            count("n", _("Questions")),
        ),
    ),
    "self_preference_pairs": Table(
        SECTION,
        _("Order preference and preference for an author"),
        _(
            "Share of readings that used the passage read first, and share that used the author's, with 95 % bootstrap "
            "intervals over questions. In both orders: of pairs resolved in both, so that order cannot pass for "
            "preference; p that the author's share is one half (t-test over questions), adjusted by Benjamini and "
            "Hochberg within the table. As Figure 3 and Tables 9, 10 and 13 of the paper."
        ),
        (
            CASE, AUTHOR, OTHER, WHOSE,
            Column("presentation", _("Order"), words=PRESENTATIONS),
            named_estimate("front", _("First preferred"), n="n"),
            named_estimate("own", _("Author preferred"), n="n"),
            P, P_ADJUSTED, QUESTIONS, READINGS, UNRESOLVED,
        ),
    ),
    "self_preference_factuality": Table(
        SECTION,
        _("Factuality preference and preference for an author"),
        _(
            "Of two passages with different answers one is true: share of readings that used it, and share that used "
            "the "
            "author's, over pairs resolved in both orders, with 95 % bootstrap intervals over questions. As Tables 6, "
            "11 "
            "and 12 of the paper."
        ),
        (
            CASE, AUTHOR, OTHER, WHOSE,
            named_estimate("factual", _("True one preferred"), n="n"),
            named_estimate("own", _("Author preferred"), n="n"),
            QUESTIONS, READINGS, UNRESOLVED,
        ),
    ),
    "self_preference_by_knowledge": Table(
        SECTION,
        _("Factuality preference by knowledge"),
        _(
            "Share of readings that used the true one of a true and a false passage, by what the evaluator knows of "
            "the "
            "question without a passage, with 95 % bootstrap intervals over questions. As Table 5 of the paper."
        ),
        (
            Column("level", _("Knowledge"), words=LEVELS),
            named_estimate("factual", _("True one preferred"), n="n"),
            QUESTIONS, READINGS, UNRESOLVED,
        ),
    ),
    "self_preference_styles": Table(
        SECTION,
        _("Preference for a style"),
        _(
            "Share of readings that used a passage in another style instead of the same author's normal one, both "
            "true, "
            "over pairs resolved in both orders, with 95 % bootstrap intervals over questions; p as for authors. As "
            "Tables 7 and 8 of the paper."
        ),
        (
            STYLE, AUTHOR,
            named_estimate("styled", _("Style preferred"), n="n"),
            named_estimate("front", _("First preferred"), n="n"),
            P, P_ADJUSTED, QUESTIONS, READINGS, UNRESOLVED,
        ),
    ),
    "self_preference_knowledge": Table(
        SECTION,
        _("Knowledge levels"),
        _(
            "How many questions a model answers right each time (full), sometimes (partial) or never (no) without a "
            "passage, with 95 % bootstrap intervals over questions. As Table 1 of the paper."
        ),
        (
            Column("model", _("Model")),
            Column("source", _("Answers"), words=SOURCES),
            Column("level", _("Knowledge"), words=LEVELS),
            estimate("share", _("Share"), n="n"),
            count("count", _("Questions")),
            count("n", _("Of")),
        ),
    ),
    "self_preference_recounted": Table(
        SECTION,
        _("Right answers counted anew"),
        _(
            "Share of questions in which the count of right answers that came with the data, and the knowledge level "
            "that "
            "follows from it, are those of the rule used here, with 95 % bootstrap intervals over questions."
        ),
        (
            Column("model", _("Model")),
            Column("measure", _("What"), words=MEASURES),
            estimate("agree", _("Equal"), n="n"),
            count("n", _("Questions")),
        ),
    ),
    "self_preference_exceptions": Table(
        SECTION,
        _("Questions counted otherwise"),
        _("The questions in which the count that came with the data does not follow from the rule used here."),
        (
            Column("model", _("Model")),
            Column("question", _("Question"), words="id"),
            Column("text", _("It asks")),
            Column("truth", _("Right answer")),
            Column("answers", _("The model's answers")),
            count("published", _("Right in the data")),
            count("recounted", _("Right by the rule")),
        ),
    ),
    "self_preference_bank": Table(
        SECTION,
        _("The passages"),
        format_lazy(
            "{} {}",
            _(
                "Words of questions and passages with 95 % bootstrap intervals over questions, perplexity where the "
                "data gives it or a model computed it, and how many passages could not be used. As Table 2 of the "
                "paper."
            ),
            EXCHANGED,
        ),
        (
            AUTHOR, TRUTH, STYLE,
            named_estimate("words", _("Words"), n="passages", digits=1),
            Column("words_sd", _("Standard deviation"), 1),
            Column("perplexity", _("Perplexity"), 1),
            Column("perplexity_sd", _("Standard deviation"), 1),
            count("passages", _("Passages")),
            count("left_out", _("Left out")),
        ),
    ),
    "self_preference_perplexity": Table(
        SECTION,
        _("Tests of perplexity"),
        format_lazy(
            "{} {}",
            _(
                "Whether true passages of different authors differ in perplexity: one-way analysis of variance, and "
                "Tukey's test of each two authors with its 95 % intervals, corrected for all pairs; beside it p of a "
                "t-test paired by question, uncorrected. As Table 2 of the paper."
            ),
            EXCHANGED,
        ),
        (
            Column("test", _("Test"), words=TESTS),
            Column("first", _("Author")),
            Column("second", _("less")),
            estimate("difference", _("Difference"), n="n"),
            Column("statistic", _("F"), 2),
            P,
            Column("p_paired", _("p, paired"), 4),
            count("n", _("Questions")),
            count("left_out", _("Left out")),
        ),
    ),
    "self_preference_scores": Table(
        SECTION,
        _("How often each rating was given"),
        _("Ratings 1 to 5 by prompt, truth and author. As Table 14 of the paper."),
        (
            SETTING, TRUTH, AUTHOR,
            Column("score", _("Rating"), 0, is_key=True),
            count("count", _("Passages")),
            Column("share", _("Share"), 1, share=True),
            count("n", _("Of")),
        ),
    ),
    "self_preference_told": Table(
        SECTION,
        _("The passage named and the passage used"),
        _(
            "Where two passages have different answers, the answer shows which was used: how often the evaluator named "
            "that one, with 95 % bootstrap intervals over questions. Tells how far its word can be trusted where both "
            "answers are the same."
        ),
        (
            CASE,
            named_estimate("agree", _("Named the one it used"), n="n"),
            QUESTIONS, READINGS, UNRESOLVED,
        ),
    ),
    "self_preference_outcomes": Table(
        SECTION,
        _("What became of everything asked"),
        _("Passages left out of the bank, and replies: readable at once, readable when asked again, never readable."),
        (
            Column("part", _("Part"), words=PARTS),
            Column("outcome", _("Outcome"), words=OUTCOMES),
            count("count", _("How many")),
            count("attempts", _("Times asked")),
        ),
    ),
    "self_preference_examples": Table(
        SECTION,
        _("Examples"),
        _("Passages of the same questions beside each other. As Figures 4 and 5 of the paper."),
        (
            Column("question", _("Question"), words="id"),
            Column("text", _("It asks")),
            AUTHOR, TRUTH, STYLE,
            Column("answer", _("Its answer")),
            Column("passage", _("Passage")),
            count("words", _("Words")),
        ),
    ),
}  # fmt: skip

FIGURES = {
    "self_preference_pairs": Figure(
        SECTION,
        _("Preference for an author and for the first passage"),
        _(
            "Of two passages with equal truth: how often the author's and how often the first was used, over pairs "
            "resolved in both orders; bars: 95 % intervals over questions; the line: no preference. As Figure 3 of the "
            "paper, with order beside it."
        ),
        _("Shares by pair of authors, one panel for both true and one for both false; the numbers stand in the table."),
    ),
    "self_preference_rating_tests": Figure(
        SECTION,
        _("People's ratings less models'"),
        _(
            "Difference of mean ratings, human less model, with 95 % intervals over questions; left of the line the "
            "model's passages are rated higher."
        ),
        _(
            "Differences by model, a panel for each comparison, a colour for each prompt; the numbers stand in the "
            "table."
        ),
    ),
    "self_preference_scores": Figure(
        SECTION,
        _("How often each rating was given"),
        _("Shares of the ratings 1 to 5 by author and truth, a panel for each prompt."),
        _("Stacked bars of shares of ratings; the numbers stand in the table."),
    ),
    "self_preference_by_knowledge": Figure(
        SECTION,
        _("Factuality preference by knowledge"),
        _(
            "How often the true one of a true and a false passage was used, by what the evaluator knows of the "
            "question "
            "without a passage; bars: 95 % intervals over questions; the line: no preference."
        ),
        _("Shares by knowledge level; the numbers stand in the table."),
    ),
}
