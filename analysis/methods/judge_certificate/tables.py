"""Tables of the certificate of model judges: columns and captions."""

from analysis.stats.alternative_annotator import FALSE_DISCOVERY_RATE, MIN_ITEMS

from ...tables.table import PARTICIPANT, Column, Holds, Table, count, estimate, named_estimate
from ..model_judges.tables import INFERENCES
from ..shared_columns import DIMENSION, STYLE

VERDICTS = {"passes": "may stand in", "fails": "not shown", "open": "no test"}
BIASES = {"position": "first position", "length": "longer response", "self": "own response", "style": "style"}
JUDGE = (Column("participant", "Model", words=PARTICIPANT), Column("inference", "Prompt type", words=INFERENCES))
P = (Column("p", "p", 4), Column("p_adjusted", "Adjusted p", 4))

JUDGE_CERTIFICATE = Table(
    "judge_certificate",
    "Certificate of model judges",
    (
        "Whether a model may stand in for the people whose judgments were analysed. Alpha: Krippendorff's alpha "
        "(ordinal) of the model with a person, and of people with each other, on the same presented pairs, with 95 % "
        "intervals over topics. Winning rate and advantage probability: alternative annotator test of people with at "
        f"least {MIN_ITEMS} pairs (epsilon in the table, false discovery rate {FALSE_DISCOVERY_RATE}). Difference: how "
        "much more often a person than the model agrees with the other people at least as well, over all judgments, "
        "with a 95 % interval over topics and a one-sided test against epsilon, adjusted over dimensions (Benjamini "
        "and Yekutieli). The winning rate decides if at least three people were compared, otherwise the test of all "
        "judgments."
    ),
    (
        *JUDGE,
        DIMENSION,
        Column("verdict", "Verdict", words=VERDICTS),
        named_estimate("alpha_people", "Alpha with a person", n="judgments"),
        named_estimate("alpha_between", "Alpha between people", n="judgments"),
        Column("epsilon", "Epsilon", 2),
        Column("winning_rate", "Winning rate", 2, n="people_compared"),
        Column("advantage_probability", "Advantage probability", 2, n="people_compared"),
        count("people_compared", "People compared"),
        named_estimate("difference", "Difference", n="judgments"),
        *P,
        count("items", "Pairs"),
        count("judgments", "Judgments"),
        count("items_with_few_people", "Pairs with one person"),
        count("people_with_few_items", "People with few pairs"),
    ),
    holds=Holds.PSEUDONYMS,
    about=(
        "One row per model, prompt type and dimension. Empty if no model judged, or if models' judgments were "
        "analysed. Method: `methods/judge-certificate.md`."
    ),
    meanings={
        "participant, inference, dimension": "as in `model_judges`",
        "verdict": "`passes`: the model may stand in for people; `fails`: that was not shown; `open`: there is no test",
        "alpha_people, alpha_between": (
            "each with `_low` and `_high`: alpha of the model and one person, each judgment of a person being a unit; "
            "alpha of people with each other on the same pairs"
        ),
        "winning_rate, advantage_probability, people_compared": (
            "share of people for whom the model may stand in; mean share of pairs on which the model has the "
            f"advantage; number of people with at least {MIN_ITEMS} pairs"
        ),
        "difference, difference_low, difference_high": "share of advantages of a person minus that of the model",
        "p, p_adjusted": "of the null hypothesis that the difference is at least epsilon",
        "items, judgments": "numbers of presented pairs and of people's judgments in the test of all judgments",
        "items_with_few_people, people_with_few_items": (
            f"left out: pairs with one person, people below {MIN_ITEMS} pairs"
        ),
    },
)
JUDGE_CERTIFICATE_PEOPLE = Table(
    "judge_certificate_people",
    "Model judges against each person",
    (
        f"Alternative annotator test of a model against each person with at least {MIN_ITEMS} pairs: shares of pairs "
        "on which the model or the person agrees at least as well with the other people. p: one-sided t-test against "
        "epsilon, adjusted over people (Benjamini and Yekutieli)."
    ),
    (
        *JUDGE,
        DIMENSION,
        Column("annotator", "Person", words=PARTICIPANT),
        Column("wins", "Model wins"),
        Column("judge_advantage", "Advantage of the model", 2, n="items"),
        Column("annotator_advantage", "Advantage of the person", 2, n="items"),
        *P,
        count("items", "Pairs"),
    ),
    holds=Holds.PSEUDONYMS,
    about="One row per model, prompt type, dimension and person. Method: `methods/judge-certificate.md`.",
    meanings={"wins": f"`yes` if adjusted p is at most {FALSE_DISCOVERY_RATE}"},
    is_whole=False,
)
JUDGE_BIASES = Table(
    "judge_biases",
    "Biases of model judges",
    (
        "How much more of its choices a model gives to the response shown first, the longer one, its own, or that of a "
        "style, with 95 % intervals over topics. First position: beyond one half, on pairs judged in both orders. The "
        "others: beyond what people would choose, with allowance for the reliability of both. p: adjusted over "
        "dimensions (Benjamini and Hochberg)."
    ),
    (
        *JUDGE,
        DIMENSION,
        Column("bias", "Preference for", words=BIASES),
        STYLE,
        estimate("value", "Excess of choices", n="n"),
        *P,
        count("n", "Pairs"),
    ),
    holds=Holds.PSEUDONYMS,
    about="One row per model, prompt type, dimension and bias. Method: `methods/judge-certificate.md`.",
    meanings={
        "bias, style": "`position`, `length`, `self` or `style`; the style that is preferred, or empty",
        "value, low, high": "excess as a share of choices, a neutral judgment being half a choice",
        "n": "number of pairs: in both orders (position), or of which one response has the attribute",
    },
)
JUDGE_TRANSPORT = Table(
    "judge_transport",
    "Model judges on each system",
    (
        "Difference of a person and the model, as in the certificate, on the pairs of one system and on all other "
        "pairs, with 95 % intervals over topics. A system on which the model does worse should be judged by people. p: "
        "one-sided test against epsilon, adjusted over systems (Benjamini and Yekutieli)."
    ),
    (
        *JUDGE,
        DIMENSION,
        Column("system", "System", words=PARTICIPANT),
        estimate("value", "Its pairs", n="n"),
        named_estimate("others", "Other pairs", n="n_others"),
        *P,
        count("n", "Judgments"),
        count("n_others", "Judgments of other pairs"),
    ),
    holds=Holds.PSEUDONYMS,
    about=(
        "One row per model, prompt type, dimension and system; people who wrote are one system, `human`. Method: "
        "`methods/judge-certificate.md`."
    ),
    meanings={"value, others": "share of advantages of a person minus that of the model"},
    is_whole=False,
)

JUDGE_REPEATS = Table(
    "judge_repeats",
    "Repeated questions to model judges",
    "Share of repeated answers of a model that equal its first answer to the same question, with 95 % intervals over "
    "topics.",
    (*JUDGE, DIMENSION, estimate("value", "Same answer", n="n"), count("n", "Repeated answers")),
    holds=Holds.PSEUDONYMS,
    about=(
        "One row per model, prompt type and dimension with repeated questions. Method: `methods/judge-certificate.md`."
    ),
)
JUDGE_PLANTED_TEXTS = Table(
    "judge_planted_texts",
    "Planted texts and model judges",
    "How often a model gives the answer that a text inserted into a response asks for, after this text and after a "
    "neutral one of the same length at the same position, and their difference with its 95 % interval. From the newest "
    "injection test.",
    (
        *JUDGE,
        DIMENSION,
        Column("with_text", "With the text", 2, n="n"),
        Column("with_neutral_text", "With a neutral text", 2, n="n"),
        estimate("value", "Difference", n="n"),
        count("n", "Pairs"),
    ),
    holds=Holds.PSEUDONYMS,
    about="One row per model, prompt type and dimension with an injection test. Method: `methods/injection.md`.",
)
JUDGE_PROMPTS = Table(
    "judge_prompts",
    "Prompts of model judges",
    "How each model was asked. The prompts themselves are in the files.",
    (
        Column("participant", "Model", words=PARTICIPANT),
        Column("model", "Name of the model"),
        Column("endpoint", "Endpoint"),
        Column("prompt_version", "Prompt"),
        Column("parameters", "Parameters"),
        Column("justify", "Justifications"),
        Column("prompt", "Text of the prompt"),
    ),
    holds=Holds.PSEUDONYMS,
    about="One row per model whose prompt is known. Method: `methods/judge-certificate.md`.",
    meanings={"parameters": "JSON", "justify": "whether the model gave a justification with every answer"},
    unprinted=("prompt",),
)

TABLES = (
    JUDGE_CERTIFICATE,
    JUDGE_CERTIFICATE_PEOPLE,
    JUDGE_BIASES,
    JUDGE_TRANSPORT,
    JUDGE_REPEATS,
    JUDGE_PLANTED_TEXTS,
    JUDGE_PROMPTS,
)
