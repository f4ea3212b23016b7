"""Tables and charts of self-preference experiments (docs/methods/self-preference.md)."""

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, LazyText, Table, count, estimate, named_estimate

SECTION = "self_preference"
#: What readers must know who compare a run on the published data with the paper.
EXCHANGED = _(
    "Table 2 of the paper swaps the perplexities of the two data sets: the row of NQ has the values "
    "from the file of MS MARCO, and vice versa. The files are right: their perplexities correlate "
    "with the rarity of words in their own data set's passages (rank correlation 0.26 to 0.43), and "
    "not with that of the other data set (about 0)."
)
SETTINGS = {"plain": _("plain"), "rag": _("for answering the question")}
TRUTHS: dict[str, LazyText] = {"true": _("true"), "false": _("false"), "unknown": _("unknown"), "": ""}
STYLES = {"normal": _("normal"), "qa": _("from question and answer"), "long": _("long")}
COMPARISONS = {
    "both_true": _("true, true"),
    "model_false": _("true, the model's false"),
    "as_written": _("truth unknown"),
}
CASES = {
    "all": _("all"),
    "same": _("both true or both false"),
    "both_true": _("both true"),
    "both_false": _("both false"),
    "as_written": _("truth unknown"),
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
SOURCES = {"given": _("in the data"), "asked": _("in this run")}
MEASURES = {"count": _("right answers"), "level": _("knowledge level")}
TESTS = {"anova": _("analysis of variance"), "tukey": _("Tukey's test")}
PARTS = {
    "bank": _("bank"),
    "build": _("writing passages"),
    "knowledge": _("answering without a passage"),
    "plain": _("rating, plain"),
    "rag": _("rating, for answering"),
    "readings": _("answering from two passages"),
}
OUTCOMES = {
    "at_once": _("done at first attempt"),
    "asked_again": _("done after retry"),
    "no_text": _("no text (refused)"),
    "format": _("wrong format"),
    "neither": _("answer from neither passage"),
    "both": _("answers from both passages"),
    "length": _("too short or too long"),
    "empty": _("empty passage"),
    "answer_missing": _("does not contain its answer"),
    "truth_left": _("false, but contains a true answer"),
    "indistinct": _("false answer not distinguishable from the true one"),
    "false_answer_not_made": _("no false answer was generated"),
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
WHOSE = Column("whose", _("Role"), words={"own": _("the evaluator"), "others": _("another")})
QUESTIONS, READINGS = count("questions", _("Questions")), count("n", _("Readings"))
UNRESOLVED = count("unresolved", _("Unresolved"))
P, P_ADJUSTED = Column("p", _("p"), 4), Column("p_adjusted", _("p adjusted"), 4)

SELF_PREFERENCE_RATINGS = Table(
    "self_preference_ratings",
    _("Ratings"),
    _(
        "Mean rating (1 to 5) of passages by author and truth, with 95 % bootstrap intervals over "
        "questions, for a plain prompt and a prompt that asks how suitable a passage is for answering "
        "the question."
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
    _("Ratings, human minus model"),
    _(
        "Differences of ratings, human minus model, on the same questions, with 95 % bootstrap intervals "
        "over questions: for true passages, and for people's true and models' false passages. p: "
        "Student's t-test paired by question, also adjusted by Benjamini and Hochberg within the table. "
        "Also p of Welch's test, which assumes independent sides. Effect: mean difference divided by its "
        "standard deviation. As Tables 3 and 4 of the paper."
    ),
    (
        SETTING,
        Column("comparison", _("Passages"), words=COMPARISONS),
        AUTHOR,
        WHOSE,
        estimate("difference", _("Difference"), n="n"),
        Column("human", _("Human mean"), 2),
        Column("model", _("Model mean"), 2),
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
    _("Position bias and author preference"),
    _(
        "Share of readings that used the first passage, and share that used the author's passage, with "
        "95 % bootstrap intervals over questions. Both orders: pairs resolved in both orders, so that "
        "position bias does not look like preference. p: test that the author's share is one half "
        "(t-test over questions), adjusted by Benjamini and Hochberg within the table. As Figure 3 and "
        "Tables 9, 10 and 13 of the paper."
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
    _("Factuality and author preference"),
    _(
        "Two passages with different answers, one of them true: share of readings that used the true "
        "passage, and share that used the author's passage, over pairs resolved in both orders. With 95 "
        "% bootstrap intervals over questions. As Tables 6, 11 and 12 of the paper."
    ),
    (
        CASE,
        AUTHOR,
        OTHER,
        WHOSE,
        named_estimate("factual", _("True passage preferred"), n="n"),
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
        "Share of readings that used the true passage of a true and a false one, by the evaluator's "
        "knowledge of the question without a passage. With 95 % bootstrap intervals over questions. As "
        "Table 5 of the paper."
    ),
    (
        Column("level", _("Knowledge"), words=LEVELS),
        named_estimate("factual", _("True passage preferred"), n="n"),
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about="level (none, partial, full, all), factual, questions, n, unresolved",
)
SELF_PREFERENCE_STYLES = Table(
    "self_preference_styles",
    _("Style preference"),
    _(
        "Share of readings that used a passage in another style instead of the same author's normal "
        "passage, both true, over pairs resolved in both orders. With 95 % bootstrap intervals over "
        "questions. p as for author preference. As Tables 7 and 8 of the paper."
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
        "Share of questions that a model answers right always (full), sometimes (partial) or never (no) "
        "without a passage. With 95 % bootstrap intervals over questions. As Table 1 of the paper."
    ),
    (
        Column("model", _("Model")),
        Column("source", _("Answers"), words=SOURCES),
        Column("level", _("Knowledge"), words=LEVELS),
        estimate("share", _("Share"), n="n"),
        count("count", _("Questions")),
        count("n", _("Total")),
    ),
    about="model, source (given, asked), level, share, low, high, count, n (questions)",
)
SELF_PREFERENCE_RECOUNTED = Table(
    "self_preference_recounted",
    _("Recount of right answers"),
    _(
        "Share of questions with the same count of right answers in the data and by the rule used here, "
        "and with the same knowledge level. With 95 % bootstrap intervals over questions."
    ),
    (
        Column("model", _("Model")),
        Column("measure", _("Measure"), words=MEASURES),
        estimate("agree", _("Share equal"), n="n"),
        count("n", _("Questions")),
    ),
    about="model, measure (count, level), agree, low, high, n",
)
SELF_PREFERENCE_EXCEPTIONS = Table(
    "self_preference_exceptions",
    _("Questions with different counts"),
    _("Questions for which the count in the data differs from the rule used here."),
    (
        Column("model", _("Model")),
        Column("question", _("Question"), words="id"),
        Column("text", _("Question text")),
        Column("truth", _("Right answer")),
        Column("answers", _("The model's answers")),
        count("published", _("Right in the data")),
        count("recounted", _("Right by the rule")),
    ),
    about="model, question, text, truth, answers, published, recounted",
)
SELF_PREFERENCE_BANK = Table(
    "self_preference_bank",
    _("Passages"),
    format_lazy(
        "{} {}",
        _(
            "Words of questions and passages with 95 % bootstrap intervals over questions, perplexity (from "
            "the data or a model, if available), and number of excluded passages. As Table 2 of the paper."
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
        count("left_out", _("Excluded")),
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
            "Tests of whether the perplexity of true passages differs by author: one-way analysis of "
            "variance, and Tukey's test of each two authors with 95 % intervals, corrected for all pairs. "
            "Also uncorrected p of a t-test paired by question. As Table 2 of the paper."
        ),
        EXCHANGED,
    ),
    (
        Column("test", _("Test"), words=TESTS),
        Column("first", _("Author")),
        Column("second", _("Minus author")),
        estimate("difference", _("Difference"), n="n"),
        Column("statistic", _("F"), 2),
        P,
        Column("p_paired", _("p, paired"), 4),
        count("n", _("Questions")),
        count("left_out", _("Excluded")),
    ),
    about="test (anova, tukey), first, second, difference, low, high, statistic, p, p_paired, n, left_out",
)
SELF_PREFERENCE_SCORES = Table(
    "self_preference_scores",
    _("Distribution of ratings"),
    _("Ratings 1 to 5 by prompt, truth and author. As Table 14 of the paper."),
    (
        SETTING,
        TRUTH,
        AUTHOR,
        Column("score", _("Rating"), 0, is_key=True),
        count("count", _("Passages")),
        Column("share", _("Share"), 1, is_share=True),
        count("n", _("Total")),
    ),
    about="setting, truth, author, score (1 to 5), count, share, n",
)
SELF_PREFERENCE_TOLD = Table(
    "self_preference_told",
    _("Named and used passage"),
    _(
        "Share of readings in which the evaluator named the passage that it used, for passages with "
        "different answers. With 95 % bootstrap intervals over questions. It shows how reliable the "
        "named passage is if both answers are the same."
    ),
    (
        CASE,
        named_estimate("agree", _("Named the used passage"), n="n"),
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about="case, agree, questions, n, unresolved",
)
SELF_PREFERENCE_OUTCOMES = Table(
    "self_preference_outcomes",
    _("Outcomes of replies and passages"),
    _(
        "Passages excluded from the bank, and replies: readable at first attempt, readable after retry, "
        "or never readable."
    ),
    (
        Column("part", _("Part"), words=PARTS),
        Column("outcome", _("Outcome"), words=OUTCOMES),
        count("count", _("Count")),
        count("attempts", _("Requests")),
    ),
    about="part (bank, build, knowledge, plain, rag, readings), outcome, count, attempts",
)
SELF_PREFERENCE_EXAMPLES = Table(
    "self_preference_examples",
    _("Examples"),
    _("Passages of the same questions side by side. As Figures 4 and 5 of the paper."),
    (
        Column("question", _("Question"), words="id"),
        Column("text", _("Question text")),
        AUTHOR,
        TRUTH,
        STYLE,
        Column("answer", _("Answer in passage")),
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
