"""Forms of releases."""

import re
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from crowdrag.studies.models import Study
from writing.enums import Origin
from writing.plans.forms import LicenceField

from . import queries as page
from .choices import Choices, Logs, Passages, Pseudonyms, Timing
from .formats.about import is_orcid
from .models import Release

# Anything meant as an ORCID iD, valid or not; no affiliation looks like it.
ORCID = re.compile(r"(?:(?:https?://)?orcid\.org/)?([\dxX][\dxX -]{10,24})")
DOI = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:)?(10\.\d{4,9}/[^\s\"<>]+)", re.IGNORECASE)
#: Groups of fields on the page, with their headings.
GROUPS = (
    ("About", ("title", "description", "creators", "doi", "notes", "embargo_until")),
    (
        "Topics and responses",
        ("topics", "passages", "passage_terms", "responses", "origins", "excluded", "surveys"),
    ),
    ("Writing process", ("logs", "timing")),
    (
        "Judgments and results",
        ("judgments", "justifications", "comments", "runs", "gold", "grades", "tables"),
    ),
    ("Pseudonyms and licences", ("pseudonyms", "licence", "log_licence", "timing_licence")),
)


class ReleaseForm(forms.Form):
    """Metadata and contents of a release."""

    title = forms.CharField(label="Title", max_length=300)
    description = forms.CharField(
        label="Description",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Empty: the study's description.",
    )
    creators = forms.CharField(
        label="Creators",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=("One creator per line, as cited: name; affiliation; ORCID. Affiliation and ORCID are optional."),
    )
    doi = forms.CharField(
        label="DOI",
        max_length=200,
        required=False,
        help_text="The DOI reserved for this release, if any. It appears in the files.",
    )
    notes = forms.CharField(
        label="Changes in this release",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Changed numbers of rows are listed automatically.",
    )
    embargo_until = forms.DateField(
        label="Embargo until",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text=("The page is public at once, the files from this day. You can lift the embargo earlier."),
    )

    topics = forms.BooleanField(label="Topics", required=False)
    passages = forms.ChoiceField(label="Retrieved passages", choices=Passages.choices)
    passage_terms = forms.CharField(
        label="Licence of the passage texts",
        max_length=500,
        required=False,
        help_text="Or your permission to share them. Required to release texts.",
    )
    responses = forms.BooleanField(label="Responses", required=False)
    origins = forms.MultipleChoiceField(
        label="Origins of responses",
        choices=Origin.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    excluded = forms.BooleanField(label="Include data excluded from the analysis, marked as excluded", required=False)
    surveys = forms.BooleanField(label="Writers' survey answers", required=False)
    logs = forms.ChoiceField(label="Writing logs", choices=Logs.choices)
    timing = forms.ChoiceField(label="Precision of times", choices=Timing.choices)
    judgments = forms.BooleanField(label="Judgments", required=False)
    justifications = forms.BooleanField(label="Judges' justifications", required=False)
    comments = forms.BooleanField(label="Judges' comments on questionnaires", required=False)
    runs = forms.MultipleChoiceField(label="Results of these runs", required=False, widget=forms.CheckboxSelectMultiple)
    gold = forms.BooleanField(label="Gold labels", required=False)
    grades = forms.BooleanField(label="Grades", required=False)
    tables = forms.BooleanField(label="All other tables", required=False)
    pseudonyms = forms.ChoiceField(label="Pseudonyms", choices=Pseudonyms.choices)
    licence = LicenceField(
        label="Licence",
        required=False,
        help_text=(
            "An SPDX identifier, for example CC-BY-4.0. Empty: the study's licence. Data that people agreed "
            "to release only under other terms are left out and counted."
        ),
    )
    log_licence = LicenceField(label="Licence of writing logs, if different", required=False)
    timing_licence = LicenceField(label="Licence of times, if different", required=False)

    def __init__(self, study: Study, *args: Any, release: Release | None = None, **kwargs: Any) -> None:
        self.study = study
        kwargs.setdefault("initial", initial(study, release))
        super().__init__(*args, **kwargs)
        self.fields["runs"].choices = runs = page.run_choices(study)  # type: ignore[attr-defined]
        if not runs:
            self.fields["runs"].help_text = "There are no finished runs with results yet."

    def clean_creators(self) -> list[dict[str, str]]:
        """Parse one creator per line."""
        creators = []
        for line in self.cleaned_data["creators"].splitlines():
            name, *rest = (part.strip() for part in line.split(";"))
            orcids = [match[1] for part in rest if (match := ORCID.fullmatch(part))]
            affiliations = [part for part in rest if part and not ORCID.fullmatch(part)]
            if not name and (orcids or affiliations):
                raise forms.ValidationError(f"Each line must begin with a name: {line}")
            if wrong := next((orcid for orcid in orcids if not is_orcid(orcid)), None):
                raise forms.ValidationError(
                    f"{wrong} is not a valid ORCID iD. It needs four groups of four digits, with a check digit at "
                    "the end."
                )
            if len(affiliations) > 1 or len(orcids) > 1:
                raise forms.ValidationError(f"Enter only name; affiliation; ORCID in each line: {line}")
            if name:
                creators.append({"name": name, "affiliation": "".join(affiliations), "orcid": "".join(orcids)})
        return creators

    def clean_doi(self) -> str:
        """Return the DOI without resolver."""
        doi: str = self.cleaned_data["doi"].strip()
        if not doi:
            return ""
        if (match := DOI.fullmatch(doi)) is None:
            raise forms.ValidationError("A DOI begins with 10. and has a slash, for example 10.5281/zenodo.1234567.")
        return match[1]

    def clean_embargo_until(self) -> datetime | None:
        """Return the beginning of the day in UTC."""
        day = self.cleaned_data["embargo_until"]
        return datetime.combine(day, time(), tzinfo=UTC) if day else None

    def clean(self) -> dict[str, Any]:
        """Check that the choices are compatible."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            for problem in self.choices().problems():
                self.add_error(None, problem)
        return cleaned

    def choices(self) -> Choices:
        """Return the selected contents."""
        names = Choices().as_json()
        return Choices.from_json({name: self.cleaned_data[name] for name in names})

    def details(self) -> dict[str, Any]:
        """Return title, description and other metadata."""
        return {name: self.cleaned_data[name] for name in GROUPS[0][1]}

    def groups(self) -> list[dict[str, Any]]:
        """Return the fields grouped as on the page."""
        return [{"title": title, "fields": [self[name] for name in names]} for title, names in GROUPS]


class LinkForm(forms.Form):
    """A private link."""

    label = forms.CharField(
        label="Recipient",
        max_length=200,
        required=False,
        help_text="A note for yourself. People who open the link do not see it.",
    )
    days = forms.IntegerField(label="Valid for (days)", min_value=1, max_value=365, initial=30)

    def expires_at(self) -> datetime:
        """Return when the link expires."""
        return timezone.now() + timedelta(days=self.cleaned_data["days"])


class WithdrawForm(forms.Form):
    """The reason for withdrawing a release."""

    reason = forms.CharField(
        label="Reason",
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Shown on the release's public page.",
    )


def initial(study: Study, release: Release | None) -> dict[str, Any]:
    """Return the initial values of the form: those of the release, or of the latest release."""
    kept = release or page.latest(study)
    choices = Choices.from_json(kept.choices) if kept else Choices(runs=tuple(page.latest_analysis(study)))
    values = choices.as_json() | {"title": kept.title if kept else study.title}
    if kept:
        values |= {"description": kept.description, "creators": creator_lines(kept.creators)}
    if release:
        until = release.embargo_until
        values |= {"doi": release.doi, "notes": release.notes, "embargo_until": until.date() if until else None}
    return values


def creator_lines(creators: list[dict[str, str]]) -> str:
    """Return the creators, one per line."""
    return "\n".join("; ".join(filter(None, (c["name"], c.get("affiliation"), c.get("orcid")))) for c in creators)
