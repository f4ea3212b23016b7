"""Forms of imports."""

from io import BytesIO
from typing import Any

from django import forms

from ..formats import study_answers
from . import question_files, response_files, trec
from .csv_columns import ColumnRole, ColumnsError, check_roles
from .csv_files import CellRules, CsvPreview
from .fields import MAX_ID, MAX_STYLE
from .importers import (
    COLUMN_NAMES,
    COLUMN_OPTIONS,
    DRY_RUN,
    FORMAT,
    FROM_ONE,
    OPTIONS,
    PASSAGE_LINES,
    STRICT,
    SYSTEM,
    Importer,
)
from .problems import BadInput, Problem, Problems
from .sources import Member

# In characters; longer lists of questions must be uploaded as a file.
MAX_PASTED = 200_000


class FileInput(forms.FileInput):
    """A file input that accepts several files."""

    allow_multiple_selected = True

    def value_from_datadict(self, _data: Any, files: Any, name: str) -> list[Any]:
        """Return all files of the field."""
        return files.getlist(name) if hasattr(files, "getlist") else [files[name]] if name in files else []


class FilesField(forms.FileField):
    """One or more files; always a list."""

    def __init__(self, *, many: bool, **options: Any):
        super().__init__(widget=FileInput(attrs={"multiple": many}), **options)
        self.many = many

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        """Check each file; reject empty ones."""
        files = data if isinstance(data, list | tuple) else [data]
        cleaned = [super(FilesField, self).clean(file, initial) for file in files or [None]]
        if len(cleaned) > 1 and not self.many:
            raise forms.ValidationError("Choose only one file.")
        return cleaned


class ImportForm(forms.Form):
    """The files and options of an importer, on request without the options that a later page asks for."""

    def __init__(self, importer: Importer, *args: Any, has_column_options: bool = True, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.importer = importer
        self.names = [
            name
            for name in importer.options
            if has_column_options or not importer.has_columns or name not in COLUMN_OPTIONS
        ]
        for spec in importer.inputs:
            self.fields[spec.role] = FilesField(many=spec.many, label=spec.label, help_text=spec.help)
        for name in self.names:
            self.fields[name] = _OPTIONS[name]()

    @property
    def files_by_role(self) -> dict[str, list[Any]]:
        """The uploaded files."""
        return {spec.role: self.cleaned_data[spec.role] for spec in self.importer.inputs}

    @property
    def options(self) -> dict[str, Any]:
        """The options as chosen."""
        return {name: self.cleaned_data[name] for name in self.names}


class PasteForm(forms.Form):
    """Pasted questions, one per line, with the same checks as a file."""

    questions = forms.CharField(
        label="Queries",
        max_length=MAX_PASTED,
        strip=False,
        widget=forms.Textarea({"rows": 12, "spellcheck": "true"}),
        help_text="One query per line. To set a topic ID, put it before the query, with a tab between them.",
    )

    @property
    def content(self) -> bytes:
        """The lines as bytes, as in a file."""
        text: str = self.cleaned_data["questions"]
        return text.encode(errors="surrogatepass")

    def clean_questions(self) -> str:
        """Reject lines that the import would reject."""
        text: str = self.cleaned_data["questions"]
        content = text.encode(errors="surrogatepass")
        try:
            question_files.read(Member("", len(content), lambda: BytesIO(content)), Problems())
        except BadInput as error:
            raise forms.ValidationError([_pasted_problem(problem) for problem in error.problems]) from error
        return text


def _pasted_problem(problem: Problem) -> str:
    location = f"Line {problem.line}: " if problem.line else ""
    return f"{location}{problem.message} (expected: {problem.expected})"


class ColumnsForm(forms.Form):
    """The role of each column of a CSV file, and how its cells are read."""

    def __init__(self, preview: CsvPreview, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.columns = {f"column-{number}": column for number, column in enumerate(preview.columns, 1)}
        for name, column in self.columns.items():
            self.fields[name] = forms.ChoiceField(
                label=column, choices=ColumnRole.choices, initial=preview.roles[column]
            )
        for name in COLUMN_OPTIONS:
            self.fields[name] = _OPTIONS[name]()

    @property
    def column_fields(self) -> list[forms.BoundField]:
        """The fields of the roles."""
        return [self[name] for name in self.columns]

    @property
    def rule_fields(self) -> list[forms.BoundField]:
        """The fields of the cell rules."""
        return [self[name] for name in COLUMN_OPTIONS]

    def rules(self, style: str) -> CellRules:
        """Return the chosen cell rules."""
        return CellRules(style, **{name: self.cleaned_data[name] for name in COLUMN_OPTIONS})

    def clean(self) -> dict[str, Any]:
        """Check that the roles are consistent."""
        if not self.errors:
            try:
                check_roles(self.roles)
            except ColumnsError as error:
                raise forms.ValidationError(str(error)) from error
        return self.cleaned_data

    @property
    def roles(self) -> dict[str, str]:
        """The chosen role of each column, by column name."""
        return {column: self.cleaned_data[name] for name, column in self.columns.items()}


def _depth() -> forms.Field:
    return forms.IntegerField(
        label=OPTIONS["depth"],
        min_value=1,
        max_value=1000,
        initial=trec.DEPTH,
        help_text="The top-ranked passages of the run are imported.",
    )


def _style() -> forms.Field:
    return forms.CharField(
        label=OPTIONS["style"],
        max_length=MAX_STYLE,
        initial=response_files.DEFAULT_STYLE,
        help_text="For responses without a style: bullet, essay, news, or a style of the study.",
    )


def _strict() -> forms.Field:
    return forms.BooleanField(
        label=OPTIONS[STRICT],
        required=False,
        help_text="If off, faulty rows are skipped, counted and listed with file and line number.",
    )


def _from_one() -> forms.Field:
    return forms.BooleanField(
        label=OPTIONS[FROM_ONE], required=False, help_text="Choose this if [1] is the first passage, not [0]."
    )


def _passage_lines() -> forms.Field:
    return forms.BooleanField(
        label=OPTIONS[PASSAGE_LINES],
        required=False,
        help_text="Choose this if a cell contains several passages with line breaks between them.",
    )


def _format() -> forms.Field:
    return forms.ChoiceField(
        label=OPTIONS[FORMAT],
        required=False,
        choices=[("", "Recognise the format"), *study_answers.choices()],
        help_text="Choose one if it is not recognised.",
    )


def _system() -> forms.Field:
    return forms.CharField(
        label=OPTIONS[SYSTEM],
        required=False,
        max_length=MAX_ID,
        help_text="For answers that name no system. Without it, the name of the file is used.",
    )


class ColumnNamesField(forms.CharField):
    """The columns of a data set, as `query=question, answer=output`."""

    def clean(self, value: Any) -> str:
        """Check that each part is a role and a column."""
        text: str = super().clean(value)
        try:
            study_answers.parse_columns(text)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        return text


def _column_names() -> forms.Field:
    return ColumnNamesField(
        label=OPTIONS[COLUMN_NAMES],
        required=False,
        max_length=1000,
        help_text="For a data set whose columns have unusual names, for example query=question, answer=output.",
    )


def _dry_run() -> forms.Field:
    return forms.BooleanField(
        label=OPTIONS[DRY_RUN], required=False, help_text="Store nothing, and show what would be created."
    )


_OPTIONS = {
    FORMAT: _format,
    SYSTEM: _system,
    COLUMN_NAMES: _column_names,
    DRY_RUN: _dry_run,
    "depth": _depth,
    "style": _style,
    STRICT: _strict,
    FROM_ONE: _from_one,
    PASSAGE_LINES: _passage_lines,
}
