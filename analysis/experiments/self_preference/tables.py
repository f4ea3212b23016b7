"""Tables and charts of self-preference experiments (docs/methods/self-preference.md)."""

from django.utils.text import format_lazy

from ...tables.table import Column, Holds, LazyText, Table, count, estimate, named_estimate

SECTION = "self_preference"
#: A note for readers who compare a run on the published data with the paper.
EXCHANGED = (
    "Table 2 of the paper swaps the perplexities of the two data sets: the row of NQ has the values "
    "from the file of MS MARCO, and vice versa. The files are right: their perplexities correlate "
    "with the rarity of words in their own data set's passages (rank correlation 0.26 to 0.43), and "
    "not with that of the other data set (about 0)."
)
SETTINGS = {"plain": "plain", "rag": "for answering the question"}
TRUTHS: dict[str, LazyText] = {"true": "true", "false": "false", "unknown": "unknown", "": ""}
STYLES = {"normal": "normal", "qa": "from question and answer", "long": "long"}
COMPARISONS = {
    "both_true": "true, true",
    "model_false": "true, the model's false",
    "as_written": "truth unknown",
}
CASES = {
    "all": "all",
    "same": "both true or both false",
    "both_true": "both true",
    "both_false": "both false",
    "as_written": "truth unknown",
    "mixed": "one true, one false",
    "author_true": "author's true, other's false",
    "other_true": "other's true, author's false",
    "style": "another style",
}
PRESENTATIONS = {
    "both": "both orders",
    "author_first": "author's first",
    "author_last": "author's second",
}
LEVELS = {"none": "no", "partial": "partial", "full": "full", "all": "overall"}
SOURCES = {"given": "in the data", "asked": "in this run"}
MEASURES = {"count": "right answers", "level": "knowledge level"}
TESTS = {"anova": "analysis of variance", "tukey": "Tukey's test"}
PARTS = {
    "bank": "bank",
    "build": "writing passages",
    "knowledge": "answering without a passage",
    "plain": "rating, plain",
    "rag": "rating, for answering",
    "readings": "answering from two passages",
}
OUTCOMES = {
    "at_once": "done at first attempt",
    "asked_again": "done after retry",
    "no_text": "no text (refused)",
    "format": "wrong format",
    "neither": "answer from neither passage",
    "both": "answers from both passages",
    "length": "too short or too long",
    "empty": "empty passage",
    "answer_missing": "does not contain its answer",
    "truth_left": "false, but contains a true answer",
    "indistinct": "false answer not distinguishable from the true one",
    "false_answer_not_made": "no false answer was generated",
    "same_text": "same text as in another style",
    "no_gold_answer": "no right answer is known",
    "no_human_passage": "no true passage by people",
}

AUTHOR, OTHER = Column("author", "Author"), Column("other", "Compared with")
SETTING, TRUTH = (
    Column("setting", "Prompt", words=SETTINGS),
    Column("truth", "Answer", words=TRUTHS),
)
STYLE, CASE = Column("style", "Style", words=STYLES), Column("case", "Passages", words=CASES)
WHOSE = Column("whose", "Role", words={"own": "the evaluator", "others": "another"})
QUESTIONS, READINGS = count("questions", "Questions"), count("n", "Readings")
UNRESOLVED = count("unresolved", "Unresolved")
P, P_ADJUSTED = Column("p", "p", 4), Column("p_adjusted", "p adjusted", 4)

SELF_PREFERENCE_RATINGS = Table(
    "self_preference_ratings",
    "Ratings",
    (
        "Mean rating (1 to 5) of passages by author and truth, with 95 % bootstrap intervals over "
        "questions, for a plain prompt and a prompt that asks how suitable a passage is for answering "
        "the question."
    ),
    (
        SETTING,
        TRUTH,
        AUTHOR,
        estimate("mean", "Mean", n="n"),
        Column("sd", "Standard deviation", 2),
        QUESTIONS,
        count("n", "Passages"),
    ),
    about="setting (plain, rag), truth (true, false, unknown), author, mean, low, high, sd, questions, n",
)
SELF_PREFERENCE_RATING_TESTS = Table(
    "self_preference_rating_tests",
    "Ratings, human minus model",
    (
        "Differences of ratings, human minus model, on the same questions, with 95 % bootstrap intervals "
        "over questions: for true passages, and for people's true and models' false passages. p: "
        "Student's t-test paired by question, also adjusted by Benjamini and Hochberg within the table. "
        "Also p of Welch's test, which assumes independent sides. Effect: mean difference divided by its "
        "standard deviation. As Tables 3 and 4 of the paper."
    ),
    (
        SETTING,
        Column("comparison", "Passages", words=COMPARISONS),
        AUTHOR,
        WHOSE,
        estimate("difference", "Difference", n="n"),
        Column("human", "Human mean", 2),
        Column("model", "Model mean", 2),
        Column("statistic", "t", 2),
        P,
        P_ADJUSTED,
        Column("p_welch", "p, Welch", 4),
        Column("effect", "Effect", 2),
        count("n", "Questions"),
    ),
    about=(
        "setting, comparison (both_true, model_false, as_written), author, whose, difference (human - model), "
        "low, high, statistic, p, p_adjusted, p_welch, effect, human, model, n (questions)"
    ),
)
SELF_PREFERENCE_PAIRS = Table(
    "self_preference_pairs",
    "Position bias and author preference",
    (
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
        Column("presentation", "Order", words=PRESENTATIONS),
        named_estimate("front", "First preferred", n="n"),
        named_estimate("own", "Author preferred", n="n"),
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
    "Factuality and author preference",
    (
        "Two passages with different answers, one of them true: share of readings that used the true "
        "passage, and share that used the author's passage, over pairs resolved in both orders. With 95 "
        "% bootstrap intervals over questions. As Tables 6, 11 and 12 of the paper."
    ),
    (
        CASE,
        AUTHOR,
        OTHER,
        WHOSE,
        named_estimate("factual", "True passage preferred", n="n"),
        named_estimate("own", "Author preferred", n="n"),
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about="case (mixed, other_true, author_true), author, other, whose, factual, own, questions, n, unresolved",
)
SELF_PREFERENCE_BY_KNOWLEDGE = Table(
    "self_preference_by_knowledge",
    "Factuality preference by knowledge",
    (
        "Share of readings that used the true passage of a true and a false one, by the evaluator's "
        "knowledge of the question without a passage. With 95 % bootstrap intervals over questions. As "
        "Table 5 of the paper."
    ),
    (
        Column("level", "Knowledge", words=LEVELS),
        named_estimate("factual", "True passage preferred", n="n"),
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about="level (none, partial, full, all), factual, questions, n, unresolved",
)
SELF_PREFERENCE_STYLES = Table(
    "self_preference_styles",
    "Style preference",
    (
        "Share of readings that used a passage in another style instead of the same author's normal "
        "passage, both true, over pairs resolved in both orders. With 95 % bootstrap intervals over "
        "questions. p as for author preference. As Tables 7 and 8 of the paper."
    ),
    (
        STYLE,
        AUTHOR,
        named_estimate("styled", "Style preferred", n="n"),
        named_estimate("front", "First preferred", n="n"),
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
    "Knowledge levels",
    (
        "Share of questions that a model answers right always (full), sometimes (partial) or never (no) "
        "without a passage. With 95 % bootstrap intervals over questions. As Table 1 of the paper."
    ),
    (
        Column("model", "Model"),
        Column("source", "Answers", words=SOURCES),
        Column("level", "Knowledge", words=LEVELS),
        estimate("share", "Share", n="n"),
        count("count", "Questions"),
        count("n", "Total"),
    ),
    about="model, source (given, asked), level, share, low, high, count, n (questions)",
)
SELF_PREFERENCE_RECOUNTED = Table(
    "self_preference_recounted",
    "Recount of right answers",
    (
        "Share of questions with the same count of right answers in the data and by the rule used here, "
        "and with the same knowledge level. With 95 % bootstrap intervals over questions."
    ),
    (
        Column("model", "Model"),
        Column("measure", "Measure", words=MEASURES),
        estimate("agree", "Share equal", n="n"),
        count("n", "Questions"),
    ),
    about="model, measure (count, level), agree, low, high, n",
)
SELF_PREFERENCE_EXCEPTIONS = Table(
    "self_preference_exceptions",
    "Questions with different counts",
    "Questions for which the count in the data differs from the rule used here.",
    (
        Column("model", "Model"),
        Column("question", "Question", words="id"),
        Column("text", "Question text"),
        Column("truth", "Right answer"),
        Column("answers", "The model's answers"),
        count("published", "Right in the data"),
        count("recounted", "Right by the rule"),
    ),
    about="model, question, text, truth, answers, published, recounted",
)
SELF_PREFERENCE_BANK = Table(
    "self_preference_bank",
    "Passages",
    format_lazy(
        "{} {}",
        (
            "Words of questions and passages with 95 % bootstrap intervals over questions, perplexity (from "
            "the data or a model, if available), and number of excluded passages. As Table 2 of the paper."
        ),
        EXCHANGED,
    ),
    (
        AUTHOR,
        TRUTH,
        STYLE,
        named_estimate("words", "Words", n="passages", digits=1),
        Column("words_sd", "Standard deviation", 1),
        Column("perplexity", "Perplexity", 1),
        Column("perplexity_sd", "Standard deviation", 1),
        count("passages", "Passages"),
        count("left_out", "Excluded"),
    ),
    about=(
        "author (`question`: the questions themselves), truth, style, words, words_sd, perplexity, perplexity_sd,"
        " passages, left_out"
    ),
)
SELF_PREFERENCE_PERPLEXITY = Table(
    "self_preference_perplexity",
    "Tests of perplexity",
    format_lazy(
        "{} {}",
        (
            "Tests of whether the perplexity of true passages differs by author: one-way analysis of "
            "variance, and Tukey's test of each two authors with 95 % intervals, corrected for all pairs. "
            "Also uncorrected p of a t-test paired by question. As Table 2 of the paper."
        ),
        EXCHANGED,
    ),
    (
        Column("test", "Test", words=TESTS),
        Column("first", "Author"),
        Column("second", "Minus author"),
        estimate("difference", "Difference", n="n"),
        Column("statistic", "F", 2),
        P,
        Column("p_paired", "p, paired", 4),
        count("n", "Questions"),
        count("left_out", "Excluded"),
    ),
    about="test (anova, tukey), first, second, difference, low, high, statistic, p, p_paired, n, left_out",
)
SELF_PREFERENCE_SCORES = Table(
    "self_preference_scores",
    "Distribution of ratings",
    "Ratings 1 to 5 by prompt, truth and author. As Table 14 of the paper.",
    (
        SETTING,
        TRUTH,
        AUTHOR,
        Column("score", "Rating", 0, is_key=True),
        count("count", "Passages"),
        Column("share", "Share", 1, is_share=True),
        count("n", "Total"),
    ),
    about="setting, truth, author, score (1 to 5), count, share, n",
)
SELF_PREFERENCE_TOLD = Table(
    "self_preference_told",
    "Named and used passage",
    (
        "Share of readings in which the evaluator named the passage that it used, for passages with "
        "different answers. With 95 % bootstrap intervals over questions. It shows how reliable the "
        "named passage is if both answers are the same."
    ),
    (
        CASE,
        named_estimate("agree", "Named the used passage", n="n"),
        QUESTIONS,
        READINGS,
        UNRESOLVED,
    ),
    about="case, agree, questions, n, unresolved",
)
SELF_PREFERENCE_OUTCOMES = Table(
    "self_preference_outcomes",
    "Outcomes of replies and passages",
    (
        "Passages excluded from the bank, and replies: readable at first attempt, readable after retry, "
        "or never readable."
    ),
    (
        Column("part", "Part", words=PARTS),
        Column("outcome", "Outcome", words=OUTCOMES),
        count("count", "Count"),
        count("attempts", "Requests"),
    ),
    about="part (bank, build, knowledge, plain, rag, readings), outcome, count, attempts",
)
SELF_PREFERENCE_EXAMPLES = Table(
    "self_preference_examples",
    "Examples",
    "Passages of the same questions side by side. As Figures 4 and 5 of the paper.",
    (
        Column("question", "Question", words="id"),
        Column("text", "Question text"),
        AUTHOR,
        TRUTH,
        STYLE,
        Column("answer", "Answer in passage"),
        Column("passage", "Passage"),
        count("words", "Words"),
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
