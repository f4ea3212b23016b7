"""The form that starts an experiment: its questions, generator and own parameters."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.template.defaultfilters import filesizeformat

from crowdrag.jobs import run_files
from crowdrag.jobs.models import Upload
from crowdrag.request_limits import MAX_UPLOAD_BYTES
from crowdrag.studies.models import Study, User
from writing.models import Style

from ..parameters import Parameter
from ..tables import run_tables
from . import question_sets, services
from .experiment import BadParameterError, Experiment
from .question_sets import FORMATS, BadFileError

MOST_SEED: Final = 2**31 - 1
SHOWN_UPLOADS: Final = 50
#: The default number of questions: enough to judge the results.
QUERIES: Final = 100
OWN: Final = "p_"
#: The file types of each format.
WRITTEN: Final = {
    "qa": "JSON lines",
    "lamp": "JSON of a task, with merged outputs",
    "bank": "JSON as published, or JSON lines",
    "passages": "JSON as published, JSON lines, or a ZIP archive of all files of the data set",
}
KEPT: Final = "The file may be gzipped. It is stored with the study, and its digest with the run."


class NumbersField(forms.CharField):
    """Numbers separated by commas."""

    def __init__(self, *, least: float | None, most: float | None, whole: bool, **options: Any):
        super().__init__(**options)
        self.least, self.most, self.whole = least, most, whole

    def prepare_value(self, value: Any) -> Any:
        """Write numbers with commas."""
        return value if isinstance(value, str) or value is None else ", ".join(f"{number:g}" for number in value)

    def clean(self, value: Any) -> list[float]:
        """Return the numbers in order."""
        text = super().clean(value) or ""
        try:
            numbers = [(int if self.whole else float)(part) for part in text.replace(",", " ").split()]
        except ValueError:
            raise forms.ValidationError("Enter numbers separated by commas, for example: 1, 2, 4.") from None
        if any(not self._is_within(number) for number in numbers):
            message = "Each number must be from %(least)s to %(most)s."
            raise forms.ValidationError(message % {"least": _bound(self.least), "most": _bound(self.most)})
        return list(numbers)

    def _is_within(self, value: float) -> bool:
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


def _bound(value: float | None) -> str:
    return "…" if value is None else f"{value:g}"


class ExperimentForm(forms.Form):
    """An order for an experiment. The fields of its own parameters have the prefix `p_`."""

    source = forms.ChoiceField(label="Questions")
    style = forms.ChoiceField(
        label="Style of this study's responses", required=False,
        help_text=("Responses by people in this style are the right answers to the topics, without citation "
"markers. Not used for files."),
    )  # fmt: skip
    upload = forms.TypedChoiceField(
        label="Earlier upload", required=False, coerce=int, empty_value=None,
        help_text="To search a corpus for the questions, use the command with --corpus.",
    )  # fmt: skip
    file = forms.FileField(label="New file", required=False)
    others = forms.IntegerField(
        label="Extra passages from other questions", initial=0, min_value=0,
        max_value=200,
        help_text=("Added to each question's own candidates, sampled with the seed. For files with "
"candidates only."),
    )  # fmt: skip
    queries = forms.IntegerField(
        label="Maximum questions", initial=QUERIES, min_value=0,
        max_value=services.MOST_QUERIES, help_text="Sampled with the seed. 0: all.",
    )  # fmt: skip
    generator = forms.ChoiceField(
        label="Answering model",
        help_text="Stored answers are reused and cost nothing.",
    )
    seed = forms.IntegerField(label="Seed", initial=0, min_value=0, max_value=MOST_SEED)

    QUESTIONS: Final = ("source", "style", "upload", "file", "others", "queries")

    def __init__(self, *args: Any, experiment: Experiment, study: Study, by: User | None = None, **options: Any):
        super().__init__(*args, **options)
        self.experiment, self.study, self.by = experiment, study, by
        self._set_choices()
        usual = experiment.own_parameters({}).to_dict()
        for parameter in experiment.declared:
            models = services.offered(is_here=parameter.is_here) if parameter.kind == "model" else []
            self.fields[OWN + parameter.name] = _control(parameter, usual.get(parameter.name), models)

    def _set_choices(self) -> None:
        offered = [name for name in self.experiment.collections if name in FORMATS]
        sources = [(name, FORMATS[name].title) for name in offered]
        if run_tables.STUDY in self.experiment.collections:
            sources.insert(0, (run_tables.STUDY, "Topics of this study, with their passages"))
        if run_tables.RESPONSES in self.experiment.collections:
            sources.insert(0, (run_tables.RESPONSES, "Responses of this study, by author"))
        self._choices("source", sources)
        self.fields["source"].help_text = " ".join(f"{FORMATS[name].title}: {FORMATS[name].help}" for name in offered)
        styles = Style.objects.filter(study=self.study).order_by("name").values_list("name", "label").distinct()
        self._choices("style", [("", "any style"), *styles])
        stored = run_files.reusable_uploads(self.study)[:SHOWN_UPLOADS]
        kept = [
            (upload.pk, f"{upload.name} · {filesizeformat(upload.size)} · {upload.sha256[:8]}") for upload in stored
        ]
        self._choices("upload", [("", "none"), *kept])
        self._choices("generator", services.offered())
        self.fields["generator"].initial = services.default_parameters(self.study)
        formats = "; ".join(f"{FORMATS[name].title}: {WRITTEN[name]}" for name in offered)
        self.fields["file"].help_text = f"{formats}. {KEPT}"
        if not offered:
            for name in ("upload", "file"):
                del self.fields[name]
        if not any(FORMATS[name].draws for name in offered):
            del self.fields["others"]
        if not set(run_tables.OF_STUDY) & set(self.experiment.collections):
            del self.fields["style"]

    def _choices(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The basic fields, grouped under headings."""
        own_fields = [self[OWN + parameter.name] for parameter in self.experiment.declared if not parameter.is_advanced]
        return [
            ("Questions", [self[name] for name in self.QUESTIONS if name in self.fields]),
            ("Model", [self["generator"]]),
            *([("Method", own_fields)] if own_fields else []),
        ]

    def advanced(self) -> list[forms.BoundField]:
        """The fields that most users leave at their defaults."""
        return [
            *(self[OWN + parameter.name] for parameter in self.experiment.declared if parameter.is_advanced),
            self["seed"],
        ]

    def clean(self) -> dict[str, Any]:
        """Refuse invalid orders. A readable file is stored, so that it need not be uploaded again."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        if cleaned["source"] in run_tables.OF_STUDY:
            cleaned["file"] = cleaned["upload"] = None
        elif (uploaded := cleaned.get("file")) is not None:
            self._store(uploaded)
        elif not cleaned.get("upload"):
            self.add_error("upload", "Choose an earlier upload or a new file.")
        if not self.errors:
            self._check()
        return cleaned

    def _store(self, uploaded: "UploadedFile[bytes]") -> None:
        if uploaded.size is not None and uploaded.size > MAX_UPLOAD_BYTES:
            message = "This file is larger than %(most)s. Start the experiment with its command instead."
            self.add_error("file", message % {"most": filesizeformat(MAX_UPLOAD_BYTES)})
            return
        stored = run_files.store_upload(study=self.study, source=uploaded, by=self.by)
        try:
            self._read(stored)
        except BadFileError as error:
            run_files.discard_upload(stored)  # otherwise it would be offered again
            self.add_error("file", str(error))
            return
        self.cleaned_data["upload"] = stored.pk
        # The next page lists it among the uploaded files.
        data = cast("QueryDict", self.data).copy()
        data["upload"] = str(stored.pk)
        self.data = data
        self._set_stored(stored)

    def _read(self, stored: Upload) -> None:
        """Read a file on its own; the questions are kept for the estimate."""
        collection = services.of_upload(self.study, self.cleaned_data["source"], stored.pk)
        question_sets.collection({"collection": collection}, self.study, seed=self.cleaned_data.get("seed") or 0)

    def _set_stored(self, stored: Upload) -> None:
        field = self.fields["upload"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [*field.choices, (stored.pk, f"{stored.name} · {filesizeformat(stored.size)}")]  # type: ignore[misc]

    def _check(self) -> None:
        try:
            self.order()
        except BadParameterError as error:
            self.refuse(error)

    def refuse(self, error: Exception) -> None:
        """Show an error at the field whose parameter the message begins with."""
        name = str(error).split(maxsplit=1)[0] if str(error) else ""
        field = next((name_in_form for name_in_form in (OWN + name, name) if name_in_form in self.fields), None)
        self.add_error(field, str(error))

    def order(self, *, now: datetime | None = None) -> services.Order:
        """Return the order."""
        return services.order(self.experiment, self.study, self.parameters(), seed=self.cleaned_data.get("seed") or 0)

    def parameters(self) -> dict[str, Any]:
        """Return the submitted values as a run's parameters; empty fields get their defaults."""
        cleaned = self.cleaned_data
        sent = {
            parameter.name: (parameter, cleaned.get(OWN + parameter.name))
            for parameter in self.experiment.declared
            if self._is_submitted(parameter)
        }
        values = {name: value for name, (parameter, value) in sent.items() if _is_set(parameter, value)}
        common = {"generator": cleaned["generator"], "queries": cleaned.get("queries") or 0}
        return {"collection": self._collection(), **common, **values}

    def _is_submitted(self, parameter: Parameter) -> bool:
        """Whether a field was submitted. If it was not, it gets its default, not the choice ""."""
        name = OWN + parameter.name
        return not self.fields[name].widget.value_omitted_from_data(self.data, self.files, self.add_prefix(name))

    def _collection(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if cleaned["source"] in run_tables.OF_STUDY:
            return {"source": cleaned["source"], "style": cleaned.get("style") or ""}
        return services.of_upload(self.study, cleaned["source"], cleaned["upload"], cleaned.get("others") or 0)


def initial(experiment: Experiment, parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Initial values of the form that repeats a run with changes."""
    collection = parameters.get("collection") or {}
    common = {name: collection.get(name) for name in ("source", "style", "upload", "others")}
    own_values = {OWN + parameter.name: parameters.get(parameter.name) for parameter in experiment.declared}
    values = {**common, **own_values, "generator": parameters.get("generator"), "queries": parameters.get("queries")}
    return {name: value for name, value in values.items() if value is not None} | {"seed": seed}


def _control(parameter: Parameter, usual: Any, models: list[tuple[str, str]]) -> forms.Field:
    """The form field of a parameter."""
    options: dict[str, Any] = {
        "label": parameter.label, "help_text": _help(parameter), "initial": usual,
        "required": parameter.kind != "flag" and usual not in (None, "", [], ()),
    }  # fmt: skip
    if parameter.kind == "integer":
        return forms.IntegerField(min_value=_whole(parameter.least), max_value=_whole(parameter.most), **options)
    if parameter.kind == "number":
        step = forms.NumberInput(attrs={"step": "any"})
        return forms.FloatField(min_value=parameter.least, max_value=parameter.most, widget=step, **options)
    if parameter.kind == "numbers":
        whole = bool(usual) and all(isinstance(value, int) for value in usual)
        return NumbersField(least=parameter.least, most=parameter.most, whole=whole, max_length=400, **options)
    if parameter.kind == "flag":
        return forms.BooleanField(**options)
    if parameter.kind == "choice":
        # The choice "" (such as "not measured") is a valid answer, not a missing one.
        is_required = options["required"] and "" not in dict(parameter.choices)
        return forms.ChoiceField(choices=parameter.choices, **options | {"required": is_required})
    if parameter.kind == "choices":
        return forms.MultipleChoiceField(choices=parameter.choices, widget=forms.CheckboxSelectMultiple, **options)
    if parameter.kind == "model":
        return forms.ChoiceField(choices=[("", "none"), *models], **options | {"required": False})
    return forms.CharField(max_length=_whole(parameter.most), **options)


def _help(parameter: Parameter) -> str:
    """A parameter's description with its bounds."""
    bounds = ""
    if (
        parameter.kind in {"integer", "number", "numbers"}
        and parameter.least is not None
        and parameter.most is not None
    ):
        bounds = f"From {_bound(parameter.least)} to {_bound(parameter.most)}."
    elif parameter.kind in {"integer", "number", "numbers"} and parameter.least is not None:
        bounds = f"{_bound(parameter.least)} or more."
    return f"{parameter.help} {bounds}".strip()


def _is_set(parameter: Parameter, value: Any) -> bool:
    """Whether a parameter was set; empty fields get their defaults."""
    return value is not None and value != [] and (parameter.kind != "choice" or value in dict(parameter.choices))


def _whole(bound: float | None) -> int | None:
    return None if bound is None else int(bound)
