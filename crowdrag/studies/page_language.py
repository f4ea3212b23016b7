"""The language of a page: the study's for participants, English for researchers.

Participants get every page in the language of their study, whatever their browser requests, so that the page's words
and the study's own texts fit together. A study in a language without a catalogue (`settings.LANGUAGES`) has English
pages. If the study is not known yet, as on the page that asks for a personal link, the browser's language is used.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

from .models import Study


def reset_language(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: start each request in English, and reset the language for the next one."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with translation.override(settings.LANGUAGE_CODE):
            response = get_response(request)
        if getattr(request, "has_browser_language", False):
            patch_vary_headers(response, ("Accept-Language",))
        return response

    return middleware


def language_of(study: Study) -> str:
    """Return the language of a study's participant pages: one with a catalogue."""
    try:
        return translation.get_supported_language_variant(study.language)
    except LookupError:
        return settings.LANGUAGE_CODE


def activate_study_language(study: Study) -> None:
    """Use the study's language for the rest of this request."""
    translation.activate(language_of(study))


def activate_browser_language(request: HttpRequest) -> None:
    """Use the browser's language for the rest of this request, since no study is known."""
    request.has_browser_language = True  # type: ignore[attr-defined]
    translation.activate(translation.get_language_from_request(request))


def in_study_language(study: Study) -> translation.override:
    """Return a context manager that activates the study's language."""
    return translation.override(language_of(study))
