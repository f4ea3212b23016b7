"""Responses whose every figure can be counted on the page, as inputs and texts, without a database."""

from collections.abc import Sequence
from itertools import groupby

from analysis.inputs import arrays
from analysis.inputs.texts import ResponseText, TopicTexts, digest
from analysis.methods.context import Context
from analysis.methods.settings import AnalysisSettings
from analysis.text.statements import parse

PASSAGES = ("Cats sleep all day.", "Dogs bark at night.", "Birds sing in spring.", "Fish swim in the sea.")
#: name: topic, style, origin, text.
TEXTS = {
    "h1": ("t1", "essay", "human", "Cats sleep [2]. Dogs bark [0, 2]. The end."),
    "m1": ("t1", "essay", "model", "Birds sing [0, 1, 2]. Fish swim [1]."),
    "s1": ("t1", "essay", "system", "Nothing is cited here."),
    "h2": ("t2", "news", "human", "Fish swim [3]. Birds sing [1]. Dogs bark [0]."),
    "m2": ("t2", "news", "model", "Fish [0]. Birds [1]. Dogs [3]."),
    "h3": ("t2", "essay", "human", "No."),
}  # fmt: skip


def analysed(
    texts: dict[str, tuple[str, str, str, str]] = TEXTS,
    *,
    passages: Sequence[str] = PASSAGES,
    other: Sequence[str] = (),
    language: str = "en",
    resamples: int = 20,
    **more: object,
) -> Context:
    """An analysis at work on these responses. `other`: names of responses whose authors had the passages reversed."""
    lists = (tuple(passages), tuple(reversed(passages)))
    every = sorted({digest(text) for text in passages})
    names = sorted(texts)
    shown = {name: int(name in other) for name in names}
    parsed = {name: parse(texts[name][3], passages=len(passages)) for name in names}
    responses = tuple(
        arrays.Response(name, *texts[name][:3], "w", parsed[name].words, digest(texts[name][3]), shown[name])
        for name in names
    )
    taken = arrays.Inputs(
        pool="crowd", topics=tuple(sorted({topic for topic, *_ in texts.values()})),
        styles=tuple(sorted({style for _topic, style, *_ in texts.values()})), dimensions=(), responses=responses,
        pools={}, passages=tuple(every), language=language,
        rankings=tuple(tuple(every.index(digest(text)) for text in each) for each in lists), **more,
    )  # type: ignore[arg-type]  # fmt: skip
    read = [
        TopicTexts(topic, tuple(
            ResponseText(names.index(name), texts[name][3], parsed[name], lists[shown[name]], shown[name])
            for name in own
        ))
        for topic, own in groupby(sorted(names, key=lambda name: texts[name][0]), key=lambda name: texts[name][0])
    ]  # fmt: skip
    settings = AnalysisSettings(resamples=resamples, min_words=3, density_bins=4)
    return Context(taken, read, settings, 0, {}, {}, lambda _message: None)
