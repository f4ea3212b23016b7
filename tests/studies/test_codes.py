"""Languages, currencies and licences are those that a standard knows, wherever they are entered."""

import pytest
from django.core.exceptions import ValidationError

from crowdrag.llm.models import Endpoint
from crowdrag.studies import codes
from crowdrag.studies.domain import studies
from crowdrag.studies.forms import StudyForm
from crowdrag.studies.models import ConsentText, Study
from tests.factories import StudyFactory

GOOD = {"language": "en", "text_licence": "CC-BY-4.0", "currency": "USD"}
BAD = [("language", "klingonisch"), ("text_licence", "bananas"), ("currency", "DOL")]


@pytest.mark.parametrize("tag", ["en", "de", "pt-BR", "zh-Hant-TW", "yue", "es-419", "sl-rozaj", "EN-gb"])
def test_known_languages_pass(tag: str) -> None:
    codes.validate_language(tag)


@pytest.mark.parametrize("tag", ["klingonisch", "xx", "en-XX", "en_US", "", "e", "en-", "qqqq", "en" * 5000])
def test_unknown_languages_are_refused(tag: str) -> None:
    with pytest.raises(ValidationError):
        codes.validate_language(tag)


@pytest.mark.parametrize("licence", ["CC-BY-4.0", "CC0-1.0", "ODbL-1.0 OR CC0-1.0", "LicenseRef-Ours"])
def test_spdx_licences_pass(licence: str) -> None:
    codes.validate_licence(licence)


@pytest.mark.parametrize("licence", ["bananas", "CC BY 4.0", "Our own", ""])
def test_what_is_no_spdx_licence_is_refused(licence: str) -> None:
    with pytest.raises(ValidationError):
        codes.validate_licence(licence)


def test_currencies_are_those_in_use() -> None:
    for code in ("USD", "EUR", "JPY", "XOF", "BHD"):
        codes.validate_currency(code)
    for code in ("DOL", "usd", "XXX", "XAU", "DEM", "$$$", ""):
        with pytest.raises(ValidationError):
            codes.validate_currency(code)


@pytest.mark.parametrize(("field", "value"), BAD)
def test_a_study_takes_no_unknown_code(db: None, field: str, value: str) -> None:
    with pytest.raises(ValidationError) as refused:
        studies.create(slug="s", title="S", by=None, **GOOD | {field: value})
    assert set(refused.value.message_dict) == {field}
    assert not Study.objects.exists()
    form = StudyForm({"slug": "s", "title": "S", **GOOD, field: value})
    assert set(form.errors) == {field}


@pytest.mark.parametrize(
    ("model", "field"),
    [
        (ConsentText, "text_licence"),
        (ConsentText, "log_licence"),
        (ConsentText, "timing_licence"),
        (Endpoint, "currency"),
    ],
)
def test_models_state_it_so_that_every_form_refuses_it(model: type, field: str) -> None:
    with pytest.raises(ValidationError):
        model._meta.get_field(field).clean("bananas", None)


def test_a_short_name_is_refused_in_plain_words(db: None) -> None:
    StudyFactory(slug="taken")
    errors = {
        slug: StudyForm({"slug": slug, "title": "S", **GOOD}).errors.get_json_data() for slug in ("taken", "no good")
    }
    assert {slug: [error["code"] for error in found["slug"]] for slug, found in errors.items()} == {
        "taken": ["unique"],
        "no good": ["invalid"],
    }
    for found in errors.values():
        [error] = found["slug"]
        assert "slug" not in error["message"]
        assert "Short name" not in error["message"]
