"""Random values that a format can hold in full, for round trips."""

from typing import Any

from hypothesis import strategies as st

from writing.corpus.formats.format_registry import Format
from writing.corpus.formats.values import (
    Citation,
    Content,
    Document,
    LeaderboardEntry,
    Nugget,
    NuggetAnswer,
    NuggetBank,
    Part,
    Provenance,
    Qrel,
    RankedPassage,
    Report,
    Request,
    Sentence,
)

#: Signs that readers and writers may trip over: quotes, separators, brackets, line ends of Unicode, other scripts.
SIGNS = "ab7 \"',;\t[]{}\\/:.-_\n\r\u2028\x85é漢🙂\ufeff"
TEXTS = st.text(SIGNS, max_size=12)
FULL_TEXTS = TEXTS.map("x".__add__)
IDS = st.text("abz019#/.-_é漢", min_size=1, max_size=8)
#: Fields of which no format knows the name.
EXTRAS = st.dictionaries(
    st.sampled_from(["x_score", "x note", "x_é"]),
    st.one_of(TEXTS, st.integers(-9, 9), st.booleans(), st.none(), st.lists(st.floats(-1, 1), max_size=2)),
    max_size=2,
)
TEXT_EXTRAS = st.dictionaries(st.sampled_from(["x_score", "x note"]), FULL_TEXTS, max_size=2)
OPTIONAL_TEXTS = st.none() | TEXTS


def values(format_: Format) -> st.SearchStrategy[Any]:
    """Return random lists of values without anything that the format cannot hold."""
    one, key = _STRATEGIES[format_.content](format_)
    return st.lists(one, min_size=1, max_size=3, unique_by=key)


def _reports(format_: Format) -> tuple[st.SearchStrategy[Report], Any]:
    @st.composite
    def reports(draw: Any) -> Report:
        def has(part: Part) -> bool:
            return part in format_.holds

        is_table = format_.suffix in (".csv", ".tsv")
        extras = st.just({}) if not has(Part.EXTRA) else TEXT_EXTRAS if is_table else EXTRAS
        if format_.name == "hugging-face":
            extras = extras.map(lambda extra: {k: v for k, v in extra.items() if v is not None})
        names = draw(st.lists(IDS, max_size=3, unique=True))
        documents: tuple[Document, ...] | None = None
        if has(Part.PASSAGES) and (names or not is_table):
            ids = names if has(Part.PASSAGE_IDS) else [""] * min(len(names), 1)
            titles = OPTIONAL_TEXTS if has(Part.TITLES) else st.none()
            own = extras if has(Part.TITLES) else st.just({})
            texts = FULL_TEXTS if is_table else TEXTS
            documents = tuple(Document(id_, draw(texts), draw(titles), draw(titles), draw(own)) for id_ in ids)
            documents = documents if documents or (not is_table and draw(st.booleans())) else None
        sentences = text = None
        references = tuple(names) if has(Part.REFERENCES) else None
        if has(Part.SENTENCES) and (has(Part.CITATIONS) and (format_.name != "hugging-face" or draw(st.booleans()))):
            sentences = tuple(draw(st.lists(_sentences(names, format_, extras), max_size=3)))
        else:
            text = draw(TEXTS)
        return Report(
            topic=draw(IDS) if has(Part.TOPIC_ID) else "",
            run=draw(IDS) if has(Part.RUN) else "",
            sentences=sentences,
            text=text,
            first_marker=int(format_.name == "alce"),
            query=draw(FULL_TEXTS) if has(Part.QUERY) else "",
            team=draw(TEXTS) if has(Part.TEAM) else "",
            references=references,
            documents=documents,
            metadata=draw(extras) if format_.name in ("trec-rag25", "autojudge-reports") else {},
            extra=draw(extras),
        )

    return reports(), None


def _sentences(names: list[str], format_: Format, extras: Any) -> st.SearchStrategy[Sentence]:
    @st.composite
    def sentences(draw: Any) -> Sentence:
        has_confidences = Part.CONFIDENCES in format_.holds and draw(st.booleans())
        cited = draw(st.lists(st.sampled_from(names), max_size=2, unique=True)) if names else []
        confidences = [draw(st.floats(0, 100)) if has_confidences else None for _ in cited]
        citations = tuple(Citation(name, number) for name, number in zip(cited, confidences, strict=True))
        return Sentence(draw(TEXTS), citations if citations or draw(st.booleans()) else None, draw(extras))

    return sentences()


def _requests(format_: Format) -> tuple[st.SearchStrategy[Request], Any]:
    if format_.name == "topic-lines":
        words = FULL_TEXTS.map(lambda text: " ".join(text.replace("\ufeff", "").split()))
        ids = IDS.map(lambda name: name.replace("/", "-").replace(".", "-"))
        return st.builds(Request, ids, words, st.just({})), lambda request: request.topic
    return st.builds(Request, IDS, FULL_TEXTS, EXTRAS), lambda request: request.topic


def _passages(_format: Format) -> tuple[st.SearchStrategy[Document], Any]:
    return st.builds(Document, IDS, TEXTS, OPTIONAL_TEXTS, OPTIONAL_TEXTS, EXTRAS), lambda document: document.id


def _ranked(_format: Format) -> tuple[st.SearchStrategy[RankedPassage], Any]:
    scores = st.floats(allow_nan=False, allow_infinity=False)
    one = st.builds(RankedPassage, IDS, IDS, st.integers(-5, 10**6), scores, st.just("run"))
    return one, lambda row: (row.topic, row.passage)


def _qrels(_format: Format) -> tuple[st.SearchStrategy[Qrel], Any]:
    one = st.builds(Qrel, IDS, IDS, st.integers(-2, 4), st.sampled_from(["0", "Q0", "1"]))
    return one, lambda row: (row.topic, row.passage)


def _entries(format_: Format) -> tuple[st.SearchStrategy[LeaderboardEntry], Any]:
    numbers = st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False)
    labels = st.sampled_from(["good", "bad"])
    runs = IDS if Part.RUN in format_.holds else st.just("file")
    one = st.builds(LeaderboardEntry, runs, IDS, st.just("nDCG@10") | IDS, numbers | labels)
    return one, lambda row: (row.run, row.topic, row.measure)


def _banks(format_: Format) -> tuple[st.SearchStrategy[NuggetBank], Any]:
    if format_.name == "autonuggetizer":
        nuggets = st.builds(
            Nugget,
            FULL_TEXTS,
            importance=st.sampled_from([None, "vital", "okay", "failed"]),
            assignment=st.sampled_from([None, "support", "partial_support", "not_support"]),
            extra=EXTRAS,
        )
        one = st.builds(
            NuggetBank, IDS, TEXTS, st.lists(nuggets, max_size=3).map(tuple), IDS | st.just(""), OPTIONAL_TEXTS, EXTRAS
        )
        return one, lambda bank: (bank.topic, bank.run)
    provenance = st.none() | st.lists(st.builds(Provenance, IDS, EXTRAS), max_size=2).map(tuple)
    answers = st.lists(
        st.builds(NuggetAnswer, FULL_TEXTS, provenance, EXTRAS), max_size=2, unique_by=lambda answer: answer.text
    ).map(tuple)
    labels = st.none() | st.integers(0, 3) | st.sampled_from(["vital", "okay"])

    def nuggets_with(parts: Any) -> Any:
        return st.builds(
            Nugget, FULL_TEXTS, IDS | st.just(""), st.booleans(), labels, st.none(), st.none() | answers, provenance,
            parts, EXTRAS,
        )  # fmt: skip

    nested = st.none() | st.lists(nuggets_with(st.none()), max_size=2).map(tuple)
    nuggets = st.lists(nuggets_with(nested), max_size=3, unique_by=lambda nugget: nugget.text)
    ordered = nuggets.map(lambda some: tuple(sorted(some, key=lambda nugget: not nugget.is_question)))
    versions = EXTRAS.map(lambda extra: {"format_version": "v3"} | extra)
    return st.builds(NuggetBank, IDS, TEXTS, ordered, st.just(""), st.none(), versions), lambda bank: bank.topic


_STRATEGIES = {
    Content.REPORTS: _reports,
    Content.TOPICS: _requests,
    Content.PASSAGES: _passages,
    Content.RUN: _ranked,
    Content.QRELS: _qrels,
    Content.NUGGETS: _banks,
    Content.LEADERBOARD: _entries,
}
