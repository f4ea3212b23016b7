"""Languages, currencies and licences are those that a standard knows, wherever they are entered."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError

from crowdrag.llm.models import Endpoint
from crowdrag.studies import codes
from crowdrag.studies.models import ConsentText, Study
from crowdrag.studies.study import services
from crowdrag.studies.study.forms import StudyForm
from tests.factories import StudyFactory

GOOD = {"language": "en", "text_licence": "CC-BY-4.0", "currency": "USD"}
BAD = [("language", "klingonisch"), ("text_licence", "bananas"), ("currency", "DOL")]


@pytest.mark.parametrize(
    ("validate", "known", "unknown"),
    [
        (
            codes.validate_language,
            ["en", "de", "pt-BR", "zh-Hant-TW", "yue", "es-419", "sl-rozaj", "EN-gb"],
            ["klingonisch", "xx", "en-XX", "en_US", "", "e", "en-", "qqqq", "en" * 5000],
        ),
        (
            codes.validate_licence,
            ["CC-BY-4.0", "CC0-1.0", "ODbL-1.0 OR CC0-1.0", "LicenseRef-Ours"],
            ["bananas", "CC BY 4.0", "Our own", ""],
        ),
        (codes.validate_currency, ["USD", "EUR", "JPY", "XOF", "BHD"], ["DOL", "usd", "XXX", "XAU", "DEM", "$$$", ""]),
    ],
)
def test_known_codes_pass_and_others_are_refused(validate: Any, known: list[str], unknown: list[str]) -> None:
    for code in known:
        validate(code)
    for code in unknown:
        with pytest.raises(ValidationError):
            validate(code)


@pytest.mark.parametrize(("field", "value"), BAD)
def test_a_study_takes_no_unknown_code(db: None, field: str, value: str) -> None:
    with pytest.raises(ValidationError) as refused:
        services.create(slug="s", title="S", by=None, **GOOD | {field: value})
    assert set(refused.value.message_dict) == {field}
    assert not Study.objects.exists()
    form = StudyForm({"slug": "s", "title": "S", **GOOD, field: value})
    assert set(form.errors) == {field}


def test_a_currency_is_quoted_as_it_was_typed_and_may_be_in_small_letters(db: None) -> None:
    [error] = StudyForm({"slug": "s", "title": "S", **GOOD, "currency": "euro"}).errors["currency"]
    assert "euro" in error
    form = StudyForm({"slug": "s", "title": "S", **GOOD, "currency": "eur"})
    assert form.is_valid()
    assert form.cleaned_data["currency"] == "EUR"


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


def test_a_short_name_is_refused(db: None) -> None:
    StudyFactory(slug="taken")
    for slug, code in (("taken", "unique"), ("no good", "invalid")):
        [error] = StudyForm({"slug": slug, "title": "S", **GOOD}).errors.get_json_data()["slug"]
        assert error["code"] == code
        assert "slug" not in error["message"]
