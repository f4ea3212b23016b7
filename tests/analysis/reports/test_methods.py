"""The paragraphs on methods name what was done, with what, and nothing else."""

import re

from analysis.methods.run_facts import RunFacts
from analysis.methods.settings import AnalysisSettings
from analysis.reports import bibliography, latex
from analysis.reports.methods_text import methods
from analysis.reports.types import About, Methods, Report
from tests.analysis.cases import check_each

SUMMARY = {"judgments": 4200, "participants": 56, "pairs": 840, "topics": 40, "simulated": False}
#: Tables that the paragraphs speak of where they are.
SPOKEN_OF = (
    "order_effects", "interdependence", "grade_tests", "leaderboard", "model_judges", "text_reuse", "writing_process",
    "citation_overlap", "citation_order", "citation_ranks", "responses", "reference_metrics",
)  # fmt: skip
ROW = {"inference": "combined", "items": 3, "metric": "bertscore", "rho": 0.5, "alpha": 0.5, "tau": 0.5, "p": 0.1,
       "rank": 1, "alpha_gold": 0.5, "jaccard": 0.5, "probability": 0.5}  # fmt: skip


def facts(names=(), rows=None, **parameters) -> RunFacts:
    rows = rows or {}
    names = frozenset({"agreement", "mace", "grade_means", *names, *rows})
    rows = {"agreement": [{"split": "complete", "coders": "crowd", "alpha": 0.1, "low": 0.0}],
            "mace": [{"dimension": "d", "log_likelihood": -1.0}],
            "grade_means": [{"dimension": "d", "mean": 1.5}]} | rows  # fmt: skip
    return RunFacts(AnalysisSettings(**parameters), 7, "0.1.0+abc", SUMMARY, names, rows)


def paragraphs(*args, **options) -> str:
    return " ".join(methods(facts(*args, **options)).paragraphs)


def works(*args, **options) -> set[str]:
    """The keys of what is cited."""
    return {work.key for work in methods(facts(*args, **options)).references}


def test_parameters_and_sums_are_named():
    text = paragraphs(resamples=1234, restarts=17, refine=4, k=3, labels="likeliest")
    for number in ("4,200", "56", "840", "40", "3", "17", "4", "0.5", "10", "0.05", "0.2", "1,234", "0.1.0+abc", "7"):
        assert re.search(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", text), number
    averaged = paragraphs(restarts=17, refine=4)
    assert "17" not in averaged  # no restart was chosen
    assert all(number in averaged for number in ("0.5", "10"))


def test_a_table_is_spoken_of_where_it_holds_something():
    def check(table):
        assert paragraphs([table], {table: [ROW | {"metric": "bleu"}]}) != paragraphs()
        assert paragraphs([table], {table: []}) == paragraphs()

    check_each(SPOKEN_OF, check)


def test_the_corrected_crowd_and_others_are_named_where_they_are():
    rows = [
        {"split": split, "coders": coders, "alpha": 0.1}
        for split in ("complete", "differentiable")
        for coders in ("crowd", "corrected", "expert")
    ]
    assert "0.6" not in paragraphs(spam_threshold=0.6)
    assert "0.6" in paragraphs(rows={"agreement": rows}, spam_threshold=0.6)
    texts = {paragraphs(rows={"agreement": rows[:n]}) for n in range(1, 5)}
    assert len(texts) == 4  # each of corrected, experts and splits adds something


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
    text = paragraphs(rows=NOTHING, resamples=1234, spam_threshold=0.6)
    assert works(rows=NOTHING) <= {"gienapp2025"}
    assert not [number for number in ("1,234", "0.6", "0.5") if number in text]
    assert all(part in text for part in ("4,200", "0.1.0+abc"))
    one_fitted = NOTHING | {"mace": [*NOTHING["mace"], {"dimension": "e", "log_likelihood": -3.0}]}
    assert "hovy2013" in works(rows=one_fitted)


def test_resamples_are_promised_where_one_number_has_an_interval():
    alone = {"agreement": [{"split": "complete", "coders": "crowd", "alpha": 0.1, "low": None}]}
    for rows, has_interval in (
        (alone, False), (alone | {"order_differences": [{"largest_low": 0.0}]}, True),
        (NOTHING | {"key_figures": [{"low": 1.0}]}, True),
    ):  # fmt: skip
        assert ("1,234" in paragraphs(rows=rows, resamples=1234)) is has_interval
    for low, is_cited in ((None, False), (0.0, True)):
        found = {"agreement": [{"alpha": 0.1, "low": low}], "grade_means": [{"mean": 1.5, "low": 1.0}]}
        assert ("cameron2011" in works(rows=found)) is is_cited
    ranked = [paragraphs(rows={"leaderboard": [{"rank": 1, "rank_low": low}]}) for low in (None, 1)]
    assert len(set(ranked)) == 2


def test_metrics_are_those_that_were_computed():
    scores = (("bleu", 0.1), ("rouge_l", 0), ("bleu", 0.3), ("bertscore", None))
    cited = works(rows={"reference_metrics": [{"metric": name, "rho": rho} for name, rho in scores]})
    assert {"post2018", "lin2004"} <= cited
    assert "zhang2020" not in cited


def test_how_grades_and_intervals_are_made_and_by_whom_is_told_as_it_was_chosen():
    chosen = ({}, {"grades_from": "votes"}, {"bootstrap": "refit"}, {"resample": "topics+workers"})
    assert len({paragraphs(**each) for each in chosen}) == len(chosen)
    made = facts()
    simulated = RunFacts(made.settings, 7, "0.1.0+abc", SUMMARY | {"simulated": True}, made.names, made.rows)
    assert methods(simulated).paragraphs[0] != methods(made).paragraphs[0]


def test_every_work_cited_is_listed_once_in_the_order_of_citing_and_no_other():
    made = methods(facts(SPOKEN_OF, {name: [ROW] for name in SPOKEN_OF}))
    keys = list(dict.fromkeys(re.findall(r"\[@(\w+)\]", " ".join(made.paragraphs))))
    assert [each.key for each in made.references] == keys
    numbered = [bibliography.in_words(each, made.references) for each in made.paragraphs]
    assert "[@" not in " ".join(numbered)
    assert "[1]" in numbered[0]
    bib = bibliography.bibtex(made.references)
    assert re.findall(r"^@\w+\{(\w+),", bib, re.MULTILINE) == keys
    assert bib.count("{") == bib.count("}")


def test_works_have_what_a_reference_needs():
    def check(work):
        fields = dict(work.fields)
        assert {"author", "title", "year"} <= set(fields)
        listed = bibliography.listed(work)
        assert fields["year"] in listed
        assert not set("{}") & set(listed)

    check_each(bibliography.WORKS.values(), check)


def test_as_latex_citations_are_commands_and_all_else_is_escaped():
    paragraphs = ("Of 95 % & more [@hovy2013]. See [@rao1967].",)
    made = Methods(paragraphs, bibliography.cited(paragraphs))
    assert latex.paragraphs(made) == [r"Of 95 \% \& more~\cite{hovy2013}. See~\cite{rao1967}."]
    report = Report("t", About("s", "s", "r", (), 0, "", "", (), None, None, is_simulated=False), made)  # type: ignore[arg-type]
    assert latex.methods(report).endswith(b"\\cite{rao1967}.\n")
