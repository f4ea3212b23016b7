"""Prompts of models that write: what they say, what of people's instructions goes, and which are refused."""

import pytest
from django.utils import timezone

from tests.factories import RetrievedPassageFactory, StudyFactory, StyleFactory, TopicFactory
from writing.domain import plans, styles
from writing.domain.generation import prompts, slots
from writing.domain.generation.writers import Form

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return StudyFactory()


@pytest.fixture
def style(study):
    return StyleFactory(study=study, name="essay", target_words=50)


def test_the_default_prompt_is_what_people_are_told_without_the_ban(study):
    bare = prompts.default_text(study)
    prompts.check(bare)
    plans.ensure(study, timezone.now())
    told = prompts.default_text(study)
    assert "Use your own words" in told
    assert "language model" not in told
    assert "ChatGPT" not in told
    assert "Choose.** Passages may be wrong" in told
    for style in styles.ensure(study=study, names=styles.DEFAULTS, now=timezone.now()).values():
        stripped = prompts.for_models(style.instructions)
        assert "language model" not in stripped
        assert stripped.endswith(style.instructions[-60:])
        assert stripped.startswith(style.instructions[:100])


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
def test_what_is_for_people_goes_and_nothing_else(given, kept):
    assert prompts.for_models(given) == kept


def test_what_others_wrote_fills_no_places(study, style):
    topic = TopicFactory(study=study, query="{passages} {style}")
    RetrievedPassageFactory(topic=topic, rank=0, passage__text="{query} and {words}")
    prompt = "{query} is what is asked, in about {words} words. {citing}\n\n{style}\n\n{passages}"
    text = prompts.filled(prompt, slot=slots.slot(topic=topic, style=style), form=Form.TEXT, words=50)
    assert text.startswith("{passages} {style} is what is asked, in about 50 words.")
    assert "[0] {query} and {words}" in text
    assert "<<<DATA" in text


@pytest.mark.parametrize("text", ["Write.", "{query} alone", "{query} {passages} {unknown}"])
def test_a_prompt_that_does_not_say_what_is_asked_is_refused(study, text):
    with pytest.raises(prompts.BadPromptError):
        prompts.ensure(study=study, text=text, now=timezone.now())
