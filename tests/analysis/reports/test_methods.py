"""The methods paragraph says what was done, with what, and nothing else."""

import re

from analysis.domain.reports import as_latex, citing
from analysis.domain.reports.methods import Facts, methods
from analysis.domain.reports.shape import About, Methods, Report
from analysis.domain.results.settings import Settings
from tests.analysis.cases import check_each

SUMMARY = {"judgments": 4200, "participants": 56, "pairs": 840, "topics": 40, "simulated": False}
#: What is said of a table, by a word of the sentence.
SAID = {
    "order_effects": "Order effects",
    "interdependence": "Kendall's tau",
    "grade_tests": "Wilcoxon",
    "leaderboard": "ranked by the merit",
    "model_judges": "Language models judged",
    "text_reuse": "Text reuse",
    "writing_process": "writing logs",
    "citation_overlap": "Jaccard",
    "citation_order": "positions of the passages",
    "citation_ranks": "passage at a rank",
    "responses": "Flesch",
    "reference_metrics": "reference-based",
}


ROW = {"inference": "combined", "items": 3, "metric": "bertscore", "rho": 0.5, "alpha": 0.5, "tau": 0.5, "p": 0.1,
       "rank": 1, "alpha_gold": 0.5, "jaccard": 0.5, "probability": 0.5}  # fmt: skip


def facts(names=(), rows=None, **parameters) -> Facts:
    rows = rows or {}
    names = frozenset({"agreement", "mace", "grade_means", *names, *rows})
    rows = {"agreement": [{"split": "complete", "coders": "crowd", "alpha": 0.1, "low": 0.0}],
            "mace": [{"dimension": "d", "log_likelihood": -1.0}],
            "grade_means": [{"dimension": "d", "mean": 1.5}]} | rows  # fmt: skip
    return Facts(Settings(**parameters), 7, "0.1.0+abc", SUMMARY, names, rows)


def said(*args, **options) -> str:
    return " ".join(methods(facts(*args, **options)).paragraphs)


def test_parameters_and_sums_are_named():
    text = said(resamples=1234, restarts=17, refine=4, k=3, labels="likeliest")
    sums = ["4,200 judgments", "56 participants", "840 presented pairs", "40 topics", "the first 3 votes"]
    fitted = ["17 random restarts", "4 rounds", "Beta(0.5, 0.5)", "Dirichlet(10)", "threshold of 0.05", "weight of 0.2"]
    for part in (*sums, *fitted, "1,234 bootstrap", "CrowdRAG 0.1.0+abc (seed 7)"):
        assert part in text


def test_of_averaged_labels_no_restart_is_said_to_have_been_chosen():
    text = said(restarts=17, refine=4)
    assert "17" not in text
    assert all(part in text for part in ("Beta(0.5, 0.5)", "Dirichlet(10)", "Monte Carlo"))


def test_a_table_is_spoken_of_where_it_is_and_not_where_it_is_not():
    def check(table):
        rows = [ROW | {"metric": "bleu"}]
        assert SAID[table] not in said()
        assert SAID[table] in said([table], {table: rows})

    check_each(SAID, check)


def test_an_empty_table_is_nothing_that_was_done():
    def check(table):
        assert SAID[table] not in said([table], {table: []})

    check_each(SAID, check)


def test_the_corrected_crowd_the_splits_and_others_are_named_where_they_are():
    plain = said(spam_threshold=0.6)
    assert "corrected" not in plain
    assert "differentiable" not in plain
    assert "experts" not in plain
    rows = [
        {"split": split, "coders": coders, "alpha": 0.1}
        for split in ("complete", "differentiable")
        for coders in ("crowd", "corrected", "expert")
    ]
    full = said(rows={"agreement": rows}, spam_threshold=0.6)
    assert "exceeds 0.6" in full
    assert "four sevenths" in full
    assert "of experts" in full


#: What a run holds whose judges share no item: rows without numbers, with the reason.
NOTHING = {
    "agreement": [{"split": split, "coders": coders, "alpha": None, "low": None, "note": "no item has two judgments"}
                  for split in ("complete", "differentiable") for coders in ("crowd", "corrected", "expert")],
    "mace": [{"dimension": "d", "log_likelihood": None, "note": "no item has two judgments"}],
} | {name: [{"low": None, "note": "why"}] for name in (
    "grade_means", "order_effects", "interdependence", "grade_tests", "leaderboard", "model_judges",
    "citation_overlap", "citation_order", "citation_ranks", "reference_metrics",
)}  # fmt: skip


def test_rows_without_a_number_are_nothing_that_was_done():
    text = said(rows=NOTHING)
    for word in ("MACE", "corrected crowd", "Krippendorff", "differentiable", "experts", "Kendall", "Order effects",
                 "Bradley-Terry", "Wilcoxon", "ranked", "Language models judged", "choice of passages",
                 "reference-based", "resamples", "Intervals", "competence"):  # fmt: skip
        assert word not in text
    assert "4,200 judgments" in text
    assert "CrowdRAG 0.1.0+abc" in text


def test_one_dimension_that_could_be_fitted_is_enough():
    rows = {"mace": [*NOTHING["mace"], {"dimension": "e", "log_likelihood": -3.0}]}
    assert "MACE" in said(rows=rows)


def test_resamples_are_promised_where_one_number_has_an_interval():
    alone = {"agreement": [{"split": "complete", "coders": "crowd", "alpha": 0.1, "low": None}]}
    assert "resamples" not in said(rows=alone)
    assert "1,000 bootstrap resamples" in said(
        rows=alone | {"order_differences": [{"largest_low": 0.0}]}, resamples=1000
    )
    assert "resamples" not in said(rows=alone | {"plan": [{"low": 0.1}]})
    unfitted = NOTHING | {"key_figures": [{"low": 1.0}]}
    assert "competences" not in said(rows=unfitted)
    assert "resamples of the topics" in said(rows=unfitted)


def test_ranks_are_said_to_have_intervals_where_they_have():
    row = {"rank": 1, "rank_low": None}
    assert "merit of one such model" in said(rows={"leaderboard": [row]})
    assert "ranks have bootstrap intervals" not in said(rows={"leaderboard": [row]})
    assert "ranks have bootstrap intervals" in said(rows={"leaderboard": [row | {"rank_low": 1}]})


def test_search_and_known_labels_are_named_only_where_they_were():
    assert "rounds of search" not in said(refine=0)
    assert "known beforehand" not in said()


def test_metrics_are_those_that_were_computed():
    rows = [
        {"metric": name, "rho": rho}
        for name, rho in (("bleu", 0.1), ("rouge_l", 0), ("bleu", 0.3), ("bertscore", None))
    ]
    text = said(rows={"reference_metrics": rows})
    assert "sentence-BLEU [@post2018] and ROUGE-L" in text
    assert "BERTScore" not in text


def test_how_grades_and_intervals_are_made_is_said_as_it_was_chosen():
    plain = said()
    assert "From the gold labels of each topic" in plain
    assert "resamples of the topics, conditional on" in plain
    other = said(grades_from="votes", bootstrap="refit", resample="topics+workers")
    assert "From the votes, each weighted" in other
    assert "of the topics and of the judges, with competences, labels and grades fitted anew" in other
    assert "conditional" not in other


def test_simulated_judgments_are_said_to_be():
    made = facts()
    simulated = Facts(made.settings, 0, "v", SUMMARY | {"simulated": True}, made.names, made.rows)
    assert "simulated crowd" in methods(simulated).paragraphs[0]


def test_every_work_cited_is_listed_once_in_the_order_of_citing_and_no_other():
    made = methods(facts([*SAID], {name: [ROW] for name in SAID}))
    keys = list(dict.fromkeys(re.findall(r"\[@(\w+)\]", " ".join(made.paragraphs))))
    assert [each.key for each in made.references] == keys
    numbered = [citing.in_words(each, made.references) for each in made.paragraphs]
    assert "[@" not in " ".join(numbered)
    assert "[1]" in numbered[0]
    bib = citing.bibtex(made.references)
    assert re.findall(r"^@\w+\{(\w+),", bib, re.MULTILINE) == keys
    assert bib.count("{") == bib.count("}")


def test_works_have_what_a_reference_needs():
    def check(work):
        fields = dict(work.fields)
        assert {"author", "title", "year"} <= set(fields)
        listed = citing.listed(work)
        assert fields["year"] in listed
        assert not set("{}") & set(listed)

    check_each(citing.WORKS.values(), check)


def test_as_latex_citations_are_commands_and_all_else_is_escaped():
    paragraphs = ("Of 95 % & more [@hovy2013]. See [@rao1967].",)
    made = Methods(paragraphs, citing.cited(paragraphs))
    assert as_latex.paragraphs(made) == [r"Of 95 \% \& more~\cite{hovy2013}. See~\cite{rao1967}."]
    report = Report("t", About("s", "s", "r", (), 0, "", "", (), None, None, is_simulated=False), made)  # type: ignore[arg-type]
    assert as_latex.methods(report).endswith(b"\\cite{rao1967}.\n")
