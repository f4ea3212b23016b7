"""The page that shows every component of the visual language, with made-up figures."""

import datetime as dt
from dataclasses import dataclass

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from ..access import public


@dataclass(frozen=True)
class Row:
    """A line of the sample table."""

    dimension: str
    alpha: float | None
    low: float | None
    high: float | None
    items: int
    a: int
    n: int
    b: int


ROWS = [
    Row("correctness_topical", 0.412, 0.351, 0.468, 1352, 3, 1, 1),
    Row("coherence_logical", -0.052, -0.131, 0.024, 1352, 1, 3, 1),
    Row("coherence_stylistic", 0.238, 0.170, 0.301, 1287, 2, 2, 1),
    Row("coverage_broad", 0.077, 0.012, 0.139, 640, 0, 1, 4),
    Row("coverage_deep", None, None, None, 0, 0, 0, 0),
]


class SampleForm(forms.Form):
    """One field of each kind."""

    title = forms.CharField(label="Title", max_length=80, help_text="As it is shown to workers.")
    resamples = forms.IntegerField(label="Bootstrap resamples", min_value=100, initial=1000)
    split = forms.ChoiceField(label="Split", choices=[("complete", "complete"), ("minimal", "minimal")])
    style = forms.ChoiceField(
        label="Style",
        widget=forms.RadioSelect,
        choices=[("bullet", "Bullet points"), ("essay", "Essay"), ("news", "News")],
    )
    instructions = forms.CharField(label="Instructions", widget=forms.Textarea, required=False, help_text="Markdown.")
    topics = forms.FileField(label="Topics", required=False, help_text="JSON lines, plain or gzipped.")
    keep = forms.BooleanField(label="Keep the writing logs", required=False)


@public
def components(request: HttpRequest) -> HttpResponse:
    """Show every component in each of its states; `?errors` shows the form as it comes back with errors."""
    now = timezone.now()
    bound = {"title": "", "resamples": "7", "split": "all", "style": "essay"}
    context = {
        "form": SampleForm(bound) if "errors" in request.GET else SampleForm(initial={"style": "essay"}),
        "rows": ROWS,
        "page": Paginator(range(4731), 50).page(3),
        "minutes_ago": now - dt.timedelta(minutes=5),
    }
    return render(request, "face/components.html", context)
