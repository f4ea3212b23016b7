"""Default instructions and consent texts of workers can be read at school grade 8 (Flesch-Kincaid)."""

import re
from html import unescape

import pytest

from analysis.text import readability
from annotation.campaign_types import default_dimensions
from annotation.campaign_types.registry import TYPES
from annotation.campaigns import default_texts as judging
from annotation.enums import CampaignKind
from annotation.judging import activity
from crowdrag.studies.models import Study
from crowdrag.ui import markdown
from tests.annotation.open_campaign import world
from tests.factories import NOW
from writing.plans import default_texts as writing

HIGHEST_GRADE = 8.0
# A text of fewer words has no grade of its own: one long word decides.
FEWEST_WORDS = 30
# The questions that the instructions explain are those of the published corpus, word for word.
QUESTIONS = tuple(f"{each.label}." for each in default_dimensions.DIMENSIONS)


def grade(counts: readability.Counts) -> float:
    """Flesch-Kincaid grade level (Kincaid et al. 1975)."""
    return 0.39 * counts.words / counts.sentences + 11.8 * counts.syllables / counts.words - 15.59


def plain(text: str) -> str:
    """The words of a text in Markdown, each paragraph and each entry of a list by itself."""
    return unescape(re.sub(r"<[^>]+>", "", re.sub(r"</(p|li|h\d)>", "\n\n", markdown.render(text))))


def paragraphs(text: str) -> list[str]:
    return [" ".join(each.split()) for each in plain(text).split("\n\n") if each.strip()]


@pytest.mark.django_db
def test_instructions_and_consent_are_easy_to_read() -> None:
    study = world(dimensions=0).study
    texts = {
        "pairs": instructions(study, CampaignKind.PAIRWISE),
        "responses": instructions(study, CampaignKind.POINTWISE),
        "consent of judges": judging.consent(study)["text"],
        "instructions of writers": writing.instructions(study),
        "consent of writers": writing.consent(study),
    }
    grades = {name: grade(readability.count(plain(text))) for name, text in texts.items()}
    assert {name: value for name, value in grades.items() if value > HIGHEST_GRADE} == {}
    hard = {
        (name, each): value
        for name, text in texts.items()
        for each in paragraphs(text)
        if not each.startswith(QUESTIONS)
        if (counts := readability.count(each)).words >= FEWEST_WORDS and (value := grade(counts)) > HIGHEST_GRADE
    }
    assert hard == {}


def instructions(study: Study, kind: str) -> str:
    dimensions = TYPES[kind].default_questions(study, NOW)
    return judging.instructions(study, TYPES[kind], dimensions, checks=1)


def test_the_grade_is_that_of_the_published_formula() -> None:
    # "The cat sat on the mat.": 6 words, 6 syllables, 1 sentence.
    assert grade(readability.count("The cat sat on the mat.")) == pytest.approx(0.39 * 6 + 11.8 - 15.59)


@pytest.mark.django_db
def test_the_instructions_of_judging_come_with_the_rest_on_demand() -> None:
    text = instructions(world(dimensions=0).study, CampaignKind.PAIRWISE)
    parts = activity.instruction_sections(text)
    assert len(parts.sections) == 3
    assert readability.count(plain(parts.lead)).words < 200
    assert text.startswith(parts.lead)
    assert all(title in text and body in text for title, body in parts.sections)
    assert activity.instruction_sections("No heading.") == activity.InstructionSections("No heading.", ())
