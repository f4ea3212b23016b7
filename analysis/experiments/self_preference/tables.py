"""Tables and charts of self-preference experiments (docs/methods/self-preference.md)."""

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, LazyText, Table, count, estimate, named_estimate

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

SELF_PREFERENCE_RATINGS = Table(
    "self_preference_ratings",
    _("Ratings"),
    _(
        "Mean rating (1 to 5) of passages by author and truth, with 95 % bootstrap intervals over questions, under "
        "a plain prompt and under one that asks how suitable a passage is for answering the question."
    ),
    (
        SETTING,
        TRUTH,
        AUTHOR,
        estimate("mean", _("Mean"), n="n"),
        Column("sd", _("Standard deviation"), 2),
        QUESTIONS,
        count("n", _("Passages")),
    ),
    about="setting (plain, rag), truth (true, false, unknown), author, mean, low, high, sd, questions, n",
)
SELF_PREFERENCE_RATING_TESTS = Table(
    "self_preference_rating_tests",
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
        AUTHOR,
        WHOSE,
        estimate("difference", _("Difference"), n="n"),
        Column("human", _("People's mean"), 2),
        Column("model", _("Model's mean"), 2),
        Column("statistic", _("t"), 2),
        P,
        P_ADJUSTED,
        Column("p_welch", _("p, Welch"), 4),
        Column("effect", _("Effect"), 2),
        count("n", _("Questions")),
    ),
    about=(
        "setting, comparison (both_true, model_false, as_written), author, whose, difference (human - model), "
        "low, high, statistic, p, p_adjusted, p_welch, effect, human, model, n (questions)"
    ),
)
SELF_PREFERENCE_PAIRS = Table(
    "self_preference_pairs",
    _("Order preference and preference for an author"),
    _(
        "Share of readings that used the passage read first, and share that used the author's, with 95 % bootstrap "
        "intervals over questions. In both orders: of pairs resolved in both, so that order cannot pass for "
        "preference; p that the author's share is one half (t-test over questions), adjusted by Benjamini and "
        "Hochberg within the table. As Figure 3 and Tables 9, 10 and 13 of the paper."
    ),
    (
        CASE,
        AUTHOR,
        OTHER,
        WHOSE,
        Column("presentation", _("Order"), words=PRESENTATIONS),
        named_estimate("front", _("First preferred"), n="n"),
        named_estimate("own", _("Author preferred"), n="n"),
        P,
        P_ADJUSTED,
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about=(
        "case (all, same, both_true, both_false, as_written), author, other, whose, presentation (both, "
        "author_first, author_last), front, own, p, p_adjusted, questions, n, unresolved"
    ),
)
SELF_PREFERENCE_FACTUALITY = Table(
    "self_preference_factuality",
    _("Factuality preference and preference for an author"),
    _(
        "Of two passages with different answers one is true: share of readings that used it, and share that used "
        "the "
        "author's, over pairs resolved in both orders, with 95 % bootstrap intervals over questions. As Tables 6, "
        "11 "
        "and 12 of the paper."
    ),
    (
        CASE,
        AUTHOR,
        OTHER,
        WHOSE,
        named_estimate("factual", _("True one preferred"), n="n"),
        named_estimate("own", _("Author preferred"), n="n"),
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about="case (mixed, other_true, author_true), author, other, whose, factual, own, questions, n, unresolved",
)
SELF_PREFERENCE_BY_KNOWLEDGE = Table(
    "self_preference_by_knowledge",
    _("Factuality preference by knowledge"),
    _(
        "Share of readings that used the true one of a true and a false passage, by what the evaluator knows of "
        "the "
        "question without a passage, with 95 % bootstrap intervals over questions. As Table 5 of the paper."
    ),
    (
        Column("level", _("Knowledge"), words=LEVELS),
        named_estimate("factual", _("True one preferred"), n="n"),
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about="level (none, partial, full, all), factual, questions, n, unresolved",
)
SELF_PREFERENCE_STYLES = Table(
    "self_preference_styles",
    _("Preference for a style"),
    _(
        "Share of readings that used a passage in another style instead of the same author's normal one, both "
        "true, "
        "over pairs resolved in both orders, with 95 % bootstrap intervals over questions; p as for authors. As "
        "Tables 7 and 8 of the paper."
    ),
    (
        STYLE,
        AUTHOR,
        named_estimate("styled", _("Style preferred"), n="n"),
        named_estimate("front", _("First preferred"), n="n"),
        P,
        P_ADJUSTED,
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about="style (qa, long), author, styled, front, p, p_adjusted, questions, n, unresolved",
)
SELF_PREFERENCE_KNOWLEDGE = Table(
    "self_preference_knowledge",
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
    about="model, source (given, asked), level, share, low, high, count, n (questions)",
)
SELF_PREFERENCE_RECOUNTED = Table(
    "self_preference_recounted",
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
    about="model, measure (count, level), agree, low, high, n",
)
SELF_PREFERENCE_EXCEPTIONS = Table(
    "self_preference_exceptions",
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
    about="model, question, text, truth, answers, published, recounted",
)
SELF_PREFERENCE_BANK = Table(
    "self_preference_bank",
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
        AUTHOR,
        TRUTH,
        STYLE,
        named_estimate("words", _("Words"), n="passages", digits=1),
        Column("words_sd", _("Standard deviation"), 1),
        Column("perplexity", _("Perplexity"), 1),
        Column("perplexity_sd", _("Standard deviation"), 1),
        count("passages", _("Passages")),
        count("left_out", _("Left out")),
    ),
    about=(
        "author (`question`: the questions themselves), truth, style, words, words_sd, perplexity, perplexity_sd,"
        " passages, left_out"
    ),
)
SELF_PREFERENCE_PERPLEXITY = Table(
    "self_preference_perplexity",
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
    about="test (anova, tukey), first, second, difference, low, high, statistic, p, p_paired, n, left_out",
)
SELF_PREFERENCE_SCORES = Table(
    "self_preference_scores",
    _("How often each rating was given"),
    _("Ratings 1 to 5 by prompt, truth and author. As Table 14 of the paper."),
    (
        SETTING,
        TRUTH,
        AUTHOR,
        Column("score", _("Rating"), 0, is_key=True),
        count("count", _("Passages")),
        Column("share", _("Share"), 1, is_share=True),
        count("n", _("Of")),
    ),
    about="setting, truth, author, score (1 to 5), count, share, n",
)
SELF_PREFERENCE_TOLD = Table(
    "self_preference_told",
    _("The passage named and the passage used"),
    _(
        "Where two passages have different answers, the answer shows which was used: how often the evaluator named "
        "that one, with 95 % bootstrap intervals over questions. Tells how far its word can be trusted where both "
        "answers are the same."
    ),
    (
        CASE,
        named_estimate("agree", _("Named the one it used"), n="n"),
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about="case, agree, questions, n, unresolved",
)
SELF_PREFERENCE_OUTCOMES = Table(
    "self_preference_outcomes",
    _("What became of everything asked"),
    _("Passages left out of the bank, and replies: readable at once, readable when asked again, never readable."),
    (
        Column("part", _("Part"), words=PARTS),
        Column("outcome", _("Outcome"), words=OUTCOMES),
        count("count", _("How many")),
        count("attempts", _("Times asked")),
    ),
    about="part (bank, build, knowledge, plain, rag, readings), outcome, count, attempts",
)
SELF_PREFERENCE_EXAMPLES = Table(
    "self_preference_examples",
    _("Examples"),
    _("Passages of the same questions beside each other. As Figures 4 and 5 of the paper."),
    (
        Column("question", _("Question"), words="id"),
        Column("text", _("It asks")),
        AUTHOR,
        TRUTH,
        STYLE,
        Column("answer", _("Its answer")),
        Column("passage", _("Passage")),
        count("words", _("Words")),
    ),
    holds=Holds.TEXTS,
    about="question, text, author, truth, style, answer, passage, words",
)

TABLES = (
    SELF_PREFERENCE_RATINGS,
    SELF_PREFERENCE_RATING_TESTS,
    SELF_PREFERENCE_PAIRS,
    SELF_PREFERENCE_FACTUALITY,
    SELF_PREFERENCE_BY_KNOWLEDGE,
    SELF_PREFERENCE_STYLES,
    SELF_PREFERENCE_KNOWLEDGE,
    SELF_PREFERENCE_RECOUNTED,
    SELF_PREFERENCE_EXCEPTIONS,
    SELF_PREFERENCE_BANK,
    SELF_PREFERENCE_PERPLEXITY,
    SELF_PREFERENCE_SCORES,
    SELF_PREFERENCE_TOLD,
    SELF_PREFERENCE_OUTCOMES,
    SELF_PREFERENCE_EXAMPLES,
)
