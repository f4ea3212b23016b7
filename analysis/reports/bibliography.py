"""Bibliography of reports: the cited works, formatted as text and as BibTeX."""

import re
from collections.abc import Callable, Iterable

from analysis.rag.uplift_rag.baselines.catalogue import BASELINES

from .types import Reference

_CITED = re.compile(r"\[@([a-z0-9]+)\]")


def _work(key: str, kind: str, **fields: str) -> Reference:
    return Reference(key, kind, tuple(fields.items()))


# fmt: off
_WORKS = (
    _work("gienapp2025", "inproceedings",
          author="Gienapp, Lukas and Hagen, Tim and Fr{\\\"o}be, Maik and Hagen, Matthias and Stein, Benno and "
                 "Potthast, Martin and Scells, Harrison",
          title="The Viability of Crowdsourcing for {RAG} Evaluation", booktitle="Proceedings of SIGIR 2025",
          year="2025"),
    _work("broderick2020", "misc",
          author="Broderick, Tamara and Giordano, Ryan and Meager, Rachael",
          title="An Automatic Finite-Sample Robustness Metric: When Can Dropping a Little Data Make a Big Difference?",
          year="2020", note="arXiv:2011.14999"),
    _work("huang2025", "misc",
          author="Huang, Jenny Y. and Shen, Yunyi and Wei, Dennis and Broderick, Tamara",
          title="Dropping Just a Handful of Preferences Can Change Top Large Language Model Rankings",
          year="2025", note="arXiv:2508.11847"),
    _work("angelopoulos2023", "misc",
          author="Angelopoulos, Anastasios N. and Duchi, John C. and Zrnic, Tijana",
          title="{PPI++}: Efficient Prediction-Powered Inference", year="2023", note="arXiv:2311.01453"),
    _work("kluger2025", "misc",
          author="Kluger, Dan M. and Lu, Kerri and Zrnic, Tijana and Wang, Sherrie and Bates, Stephen",
          title="Prediction-Powered Inference with Imputed Covariates and Nonuniform Sampling", year="2025",
          note="arXiv:2501.18577"),
    _work("calderon2025", "inproceedings",
          author="Calderon, Nitay and Reichart, Roi and Dror, Rotem",
          title="The Alternative Annotator Test for {LLM}-as-a-Judge: How to Statistically Justify Replacing Human "
                "Annotators with {LLMs}",
          booktitle="Proceedings of ACL 2025", pages="16051--16081", year="2025",
          url="https://aclanthology.org/2025.acl-long.782/"),
    _work("hovy2013", "inproceedings",
          author="Hovy, Dirk and Berg-Kirkpatrick, Taylor and Vaswani, Ashish and Hovy, Eduard",
          title="Learning Whom to Trust with {MACE}", booktitle="Proceedings of NAACL-HLT 2013", pages="1120--1130",
          year="2013", url="https://aclanthology.org/N13-1132/"),
    _work("paun2018", "article",
          author="Paun, Silviu and Carpenter, Bob and Chamberlain, Jon and Hovy, Dirk and Kruschwitz, Udo and "
                 "Poesio, Massimo",
          title="Comparing {Bayesian} Models of Annotation",
          journal="Transactions of the Association for Computational Linguistics", volume="6", pages="571--585",
          year="2018", doi="10.1162/tacl_a_00040"),
    _work("delmoral2006", "article",
          author="Del Moral, Pierre and Doucet, Arnaud and Jasra, Ajay", title="Sequential {Monte Carlo} Samplers",
          journal="Journal of the Royal Statistical Society: Series B", volume="68", pages="411--436", year="2006"),
    _work("liu1994", "article",
          author="Liu, Jun S.",
          title="The Collapsed {Gibbs} Sampler in {Bayesian} Computations With Applications to a Gene Regulation "
                "Problem",
          journal="Journal of the American Statistical Association", volume="89", pages="958--966", year="1994"),
    _work("krippendorff2011", "techreport",
          author="Krippendorff, Klaus", title="Computing {Krippendorff's} Alpha-Reliability",
          institution="University of Pennsylvania", year="2011"),
    _work("hesterberg2015", "article",
          author="Hesterberg, Tim C.",
          title="What Teachers Should Know About the Bootstrap: Resampling in the Undergraduate Statistics Curriculum",
          journal="The American Statistician", volume="69", pages="371--386", year="2015"),
    _work("cameron2011", "article",
          author="Cameron, A. Colin and Gelbach, Jonah B. and Miller, Douglas L.",
          title="Robust Inference With Multiway Clustering", journal="Journal of Business and Economic Statistics",
          volume="29", pages="238--249", year="2011"),
    _work("aronow2015", "article",
          author="Aronow, Peter M. and Samii, Cyrus and Assenova, Valentina A.",
          title="Cluster-Robust Variance Estimation for Dyadic Data", journal="Political Analysis", volume="23",
          pages="564--577", year="2015"),
    _work("korn1998", "article",
          author="Korn, Edward L. and Graubard, Barry I.",
          title="Confidence Intervals for Proportions With Small Expected Number of Positive Counts Estimated From "
                "Survey Data",
          journal="Survey Methodology", volume="24", pages="193--201", year="1998"),
    _work("rao1967", "article",
          author="Rao, P. V. and Kupper, L. L.",
          title="Ties in Paired-Comparison Experiments: A Generalization of the {Bradley-Terry} Model",
          journal="Journal of the American Statistical Association", volume="62", pages="194--204", year="1967"),
    _work("gienapp2020", "inproceedings",
          author="Gienapp, Lukas and Stein, Benno and Hagen, Matthias and Potthast, Martin",
          title="Efficient Pairwise Annotation of Argument Quality", booktitle="Proceedings of ACL 2020",
          pages="5772--5781", year="2020", doi="10.18653/V1/2020.ACL-MAIN.511"),
    _work("wilcoxon1945", "article",
          author="Wilcoxon, Frank", title="Individual Comparisons by Ranking Methods", journal="Biometrics Bulletin",
          volume="1", pages="80--83", year="1945"),
    _work("mcnemar1947", "article",
          author="McNemar, Quinn",
          title="Note on the Sampling Error of the Difference between Correlated Proportions or Percentages",
          journal="Psychometrika", volume="12", pages="153--157", year="1947"),
    _work("benjamini1995", "article",
          author="Benjamini, Yoav and Hochberg, Yosef",
          title="Controlling the False Discovery Rate: A Practical and Powerful Approach to Multiple Testing",
          journal="Journal of the Royal Statistical Society, Series B", volume="57", pages="289--300", year="1995"),
    _work("kendall1938", "article",
          author="Kendall, Maurice G.", title="A New Measure of Rank Correlation", journal="Biometrika", volume="30",
          pages="81--93", year="1938"),
    _work("spearman1904", "article",
          author="Spearman, Charles", title="The Proof and Measurement of Association between Two Things",
          journal="The American Journal of Psychology", volume="15", pages="72--101", year="1904"),
    _work("post2018", "inproceedings",
          author="Post, Matt", title="A Call for Clarity in Reporting {BLEU} Scores",
          booktitle="Proceedings of WMT 2018", pages="186--191", year="2018",
          url="https://www.aclweb.org/anthology/W18-6319"),
    _work("lin2004", "inproceedings",
          author="Lin, Chin-Yew", title="{ROUGE}: A Package for Automatic Evaluation of Summaries",
          booktitle="Text Summarization Branches Out", pages="74--81", year="2004",
          url="https://aclanthology.org/W04-1013/"),
    _work("popovic2015", "inproceedings",
          author="Popovi{\\'c}, Maja", title="{chrF}: Character n-gram {F}-score for Automatic {MT} Evaluation",
          booktitle="Proceedings of WMT 2015", pages="392--395", year="2015", doi="10.18653/v1/W15-3049"),
    _work("zhang2020", "inproceedings",
          author="Zhang, Tianyi and Kishore, Varsha and Wu, Felix and Weinberger, Kilian Q. and Artzi, Yoav",
          title="{BERTScore}: Evaluating Text Generation with {BERT}", booktitle="Proceedings of ICLR 2020",
          year="2020", url="https://openreview.net/forum?id=SkeHuCVFDr"),
    _work("kim2025", "inproceedings",
          author="Kim, To Eun and Diaz, Fernando",
          title="Towards Fair {RAG}: On the Impact of Fair Ranking in Retrieval-Augmented Generation",
          booktitle="Proceedings of ICTIR 2025", year="2025", doi="10.1145/3731120.3744599"),
    _work("qu2025", "article",
          author="Qu, Changle and Dai, Sunhao and Cai, Hengyi and Cheng, Yiyang and Xu, Jun and Wang, Shuaiqiang and "
                 "Yin, Dawei",
          title="{Uplift-RAG}: Uplift-Driven Knowledge Preference Alignment for Retrieval-Augmented Generation",
          year="2025", url="https://github.com/quchangle1/Uplift-RAG"),
    _work("diaz2020", "inproceedings",
          author="Diaz, Fernando and Mitra, Bhaskar and Ekstrand, Michael D. and Biega, Asia J. and Carterette, Ben",
          title="Evaluating Stochastic Rankings with Expected Exposure", booktitle="Proceedings of CIKM 2020",
          pages="275--284", year="2020"),
    _work("horvitz1952", "article",
          author="Horvitz, D. G. and Thompson, D. J.",
          title="A Generalization of Sampling Without Replacement from a Finite Universe",
          journal="Journal of the American Statistical Association", volume="47", pages="663--685", year="1952"),
    _work("flesch1948", "article",
          author="Flesch, Rudolf", title="A New Readability Yardstick", journal="Journal of Applied Psychology",
          volume="32", pages="221--233", year="1948"),
    _work("chen2025", "inproceedings",
          author="Chen, Yen-Shan and Jin, Jing and Kuo, Peng-Ting and Huang, Chao-Wei and Chen, Yun-Nung",
          title="{LLMs} are Biased Evaluators But Not Biased for Retrieval Augmented Generation",
          booktitle="Findings of NAACL 2025", year="2025"),
    _work("tukey1949", "article",
          author="Tukey, John W.", title="Comparing Individual Means in the Analysis of Variance",
          journal="Biometrics", volume="5", pages="99--114", year="1949"),
    _work("welch1947", "article",
          author="Welch, B. L.",
          title="The Generalization of {Student's} Problem when Several Different Population Variances are Involved",
          journal="Biometrika", volume="34", pages="28--35", year="1947"),
)
# fmt: on
#: Works about the baselines of the uplift experiment.
_OF_BASELINES = (
    _work(baseline.work.key, baseline.work.kind, **baseline.work.fields)
    for baseline in BASELINES.values()
    if baseline.work
)
WORKS = {work.key: work for work in (*_WORKS, *_OF_BASELINES)}


def cited(paragraphs: Iterable[str]) -> tuple[Reference, ...]:
    """Return the works cited in paragraphs, in the order of first citation."""
    keys = dict.fromkeys(key for paragraph in paragraphs for key in _CITED.findall(paragraph))
    return tuple(WORKS[key] for key in keys)


def in_words(paragraph: str, references: Iterable[Reference]) -> str:
    """Replace citations by numbers: `[@hovy2013]` by `[2]`."""
    number = {reference.key: position for position, reference in enumerate(references, start=1)}
    return _CITED.sub(lambda match: f"[{number[match[1]]}]", paragraph)


def in_latex(paragraph: str, escape: Callable[[str], str]) -> str:
    r"""Replace citations by `~\cite{KEY}`, and escape the text between them."""
    parts = _CITED.split(paragraph)  # texts and keys alternate
    fragments = [escape(part) if position % 2 == 0 else rf"\cite{{{part}}}" for position, part in enumerate(parts)]
    return "".join(fragments).replace(r" \cite", r"~\cite")


def listed(reference: Reference) -> str:
    """Format a work for a list of references."""
    fields = {name: _plain(value) for name, value in reference.fields}
    authors = [" ".join(reversed(name.split(", "))) for name in fields["author"].split(" and ")]
    who = authors[0] if len(authors) == 1 else f"{', '.join(authors[:-1])} and {authors[-1]}"
    publisher = (
        fields.get("booktitle") or fields.get("journal") or fields.get("publisher") or fields.get("institution", "")
    )
    parts = [publisher, fields.get("volume", ""), fields.get("pages", "").replace("--", "–")]
    where = ", ".join(part for part in parts if part)
    link = fields.get("url") or (f"https://doi.org/{fields['doi']}" if "doi" in fields else "")
    return " ".join(part for part in (f"{who}. {fields['year']}. {fields['title']}. {where}.", link) if part)


def bibtex(references: Iterable[Reference]) -> str:
    """Format works as BibTeX."""
    entries = []
    for reference in references:
        fields = ",\n".join(f"  {name} = {{{value}}}" for name, value in reference.fields)
        entries.append(f"@{reference.kind}{{{reference.key},\n{fields}\n}}\n")
    return "\n".join(entries)


def _plain(value: str) -> str:
    return value.replace('{\\"o}', "ö").replace("{\\'c}", "ć").replace("{", "").replace("}", "")
