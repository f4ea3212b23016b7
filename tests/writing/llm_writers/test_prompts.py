"""Prompts of models that write: what they say, what of people's instructions goes, and which are refused."""

import pytest

from tests.factories import NOW, RetrievedPassageFactory, StudyFactory, StyleFactory, TopicFactory
from writing.corpus import versions
from writing.llm_writers import prompts, targets
from writing.llm_writers.writer import AnswerForm
from writing.plans import services

pytestmark = pytest.mark.django_db
BAN = "language model"


def test_the_default_prompt_is_what_people_are_told_without_the_ban() -> None:
    study = StudyFactory()
    prompts.check(prompts.default_text(study))
    plan = services.ensure_plan(study, NOW)
    assert [BAN in text for text in (plan.instructions.text, prompts.default_text(study))] == [True, False]
    for style in versions.ensure_styles(study=study, names=versions.DEFAULT_STYLES, now=NOW).values():
        stripped = prompts.for_models(style.instructions)
        assert [BAN in text for text in (style.instructions, stripped)] == [True, False]
        assert stripped.startswith(style.instructions[:100])
        assert stripped.endswith(style.instructions[-60:])


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Cite. Do not use AI. Be brief.", "Cite. Be brief."),
        ("- One\n- Never ask ChatGPT,\n  or anything.\n- Two", "- One\n- Two"),
        ("Write about language models in hospitals.", "Write about language models in hospitals."),
        ("Don't use any LLM!", ""),
        ("- Cite: [0]. Pressing the button\n  does it.\n- Two", "- Cite: [0].\n- Two"),
        ("It is read, accepted and paid. Argue.", "Argue."),
        ("Who pays attention to the button is told why.", "Who pays attention to the button is told why."),
    ],
)
def test_what_is_for_people_goes_and_nothing_else(given, kept) -> None:
    assert prompts.for_models(given) == kept


def test_what_others_wrote_fills_no_places() -> None:
    topic = TopicFactory(query="{passages} {style}")
    RetrievedPassageFactory(topic=topic, rank=0, passage__text="{query} and {words}")
    slot = targets.slot_of(topic=topic, style=StyleFactory(study=topic.study, name="essay", target_words=50))
    prompt = "{query} is what is asked, in about {words} words. {citing}\n\n{style}\n\n{passages}"
    text = prompts.fill(prompt, slot=slot, form=AnswerForm.TEXT, words=50)
    assert text.startswith("{passages} {style} is what is asked, in about 50 words.")
    assert "[0] {query} and {words}" in text
    assert "<<<DATA" in text


@pytest.mark.parametrize("text", ["Write.", "{query} alone", "{query} {passages} {unknown}"])
def test_a_prompt_that_does_not_say_what_is_asked_is_refused(text) -> None:
    with pytest.raises(prompts.BadPromptError):
        prompts.ensure(study=StudyFactory(), text=text, now=NOW)
