"""Forms of a writing plan, and the editable table of a survey's questions.

Rows of the table can be added, removed and moved before the survey is saved.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeVar, cast

from django import forms

from analysis.text.words import normalize
from crowdrag.assignments.terms import TermsForm, form_field
from crowdrag.studies import codes

from ..corpus import versions
from ..models import Style, WritingPlan
from . import services, surveys

LICENCES = ("CC-BY-4.0", "CC-BY-SA-4.0", "CC0-1.0", "CC-BY-NC-4.0")


class LicenceField(forms.CharField):
    """An SPDX licence expression, chosen from the page's list `licences` or typed."""

    def __init__(self, **options: Any):
        widget = forms.TextInput(attrs={"list": "licences"})
        super().__init__(max_length=100, validators=[codes.validate_licence], widget=widget, **options)


class PlanForm(TermsForm):
    """The terms of a plan."""

    TERMS = WritingPlan.TERMS

    styles = forms.MultipleChoiceField(
        label="Styles",
        widget=forms.CheckboxSelectMultiple,
        help_text="People write on each topic in each of these styles.",
    )
    trial_topics = forms.CharField(
        label="Trial topics", required=False, widget=forms.Textarea(attrs={"rows": 3, "class": "mono"}),
        help_text="Topic IDs, one per line. New writers write on these topics first and are paid for it. They continue "
            "when all these responses are accepted. Leave empty for no trial.",
    )  # fmt: skip

    class Meta:
        model = WritingPlan
        fields = WritingPlan.TERMS
        formfield_callback = form_field

    def __init__(self, plan: WritingPlan, *args: Any, **kwargs: Any):
        topics = plan.plan_trial_topics.order_by("position", "id").values_list("topic__external_id", flat=True)
        names = [style.name for style in services.styles_of(plan)]
        super().__init__(plan, *args, initial={"styles": names, "trial_topics": "\n".join(topics)}, **kwargs)
        self.fields["styles"].choices = _style_choices(plan)  # type: ignore[attr-defined]

    def clean_trial_topics(self) -> list[str]:
        """Return the topic IDs as a list."""
        return [each for each in re.split(r"[\s,;]+", self.cleaned_data["trial_topics"]) if each]


def _style_choices(plan: WritingPlan) -> list[tuple[str, str]]:
    choices = {name: label for name, (label, _instructions) in versions.DEFAULT_STYLES.items()}
    choices |= {name: style.label for name, style in versions.current(Style, study=plan.study).items()}
    return sorted(choices.items(), key=lambda each: (each[0] not in versions.DEFAULT_STYLES, each[1]))


class StyleForm(forms.Form):
    """A new style, or a new version of a style."""

    label = forms.CharField(label="Name", max_length=100, help_text="Writers see this name.")
    name = forms.CharField(
        label="Short name", max_length=64,
        help_text="For exports. Lower-case letters, digits and underscores. You cannot change it later.",
    )  # fmt: skip
    target_words = form_field(Style._meta.get_field("target_words"))
    instructions = forms.CharField(
        label="Instructions", widget=forms.Textarea(attrs={"rows": 8}),
        help_text="In Markdown. Shown beside the editor while people write.",
    )  # fmt: skip


class InstructionsForm(forms.Form):
    """The instructions for all styles."""

    text = forms.CharField(
        label="Instructions", widget=forms.Textarea(attrs={"rows": 22}), strip=False,
        help_text="In Markdown: blank line for a new paragraph, - for a list item, ** for bold.",
    )  # fmt: skip


class ConsentForm(forms.Form):
    """The consent text and the licences of the released data."""

    text = forms.CharField(
        label="Consent text", widget=forms.Textarea(attrs={"rows": 22}), strip=False,
        help_text="In Markdown. It must say what is recorded. The default text does.",
    )  # fmt: skip
    text_licence = LicenceField(label="Licence of responses")
    log_licence = LicenceField(
        label="Licence of writing logs", required=False,
        help_text="Writers choose whether to release their logs. Leave empty to release no logs.",
    )  # fmt: skip
    timing_licence = LicenceField(
        label="Licence of timing data", required=False,
        help_text="The time of each change and key press. Leave empty to release no timing.",
    )  # fmt: skip


KINDS: Final = ("choice", "scale", "text")
# The moves of a button's action, for example "up:q3".
MOVES: Final = {"up": -1, "down": 1}
# The group itself is not possessive because Python before 3.11.4 loses captures in possessive groups.
_OPTION = re.compile(r"(?:(-?\d+|[A-Za-z]\w*+)\s*+=\s*+)?(.*)")


class KeyedRow(Protocol):
    """A row of an editable table; `key` identifies it while it moves."""

    @property
    def key(self) -> str:
        """The unique key of the row."""


R = TypeVar("R", bound=KeyedRow)


@dataclass(frozen=True)
class QuestionRow:
    """A question in the table; `key` identifies it while it moves."""

    key: str
    text: str = ""
    kind: str = "choice"
    options: str = ""
    low: str = ""
    high: str = ""
    required: bool = True
    name: str = ""


def rows_of(questions: Sequence[Mapping[str, Any]]) -> list[QuestionRow]:
    """Convert stored questions to rows."""
    return [
        QuestionRow(
            key=f"q{number}",
            text=each["text"],
            kind=each.get("kind") or ("choice" if each.get("options") else "text"),
            options=_written(each),
            low=each.get("low", ""),
            high=each.get("high", ""),
            required=bool(each.get("required", True)),
            name=each["name"],
        )
        for number, each in enumerate(questions)
    ]


def _written(question: Mapping[str, Any]) -> str:
    """Return the options as lines; empty for a scale from 1 to 5, which is the default."""
    lines = [f"{option['value']} = {option['label']}" for option in question.get("options", [])]
    usual = question.get("kind") == "scale" and lines == [f"{n} = {n}" for n in range(1, 6)]
    return "" if usual else "\n".join(lines)


def read_rows(data: Mapping[str, Any], keys: Sequence[str]) -> list[QuestionRow]:
    """Return the submitted rows."""
    rows = []
    for key in dict.fromkeys(keys[: surveys.MOST_QUESTIONS]):
        fields = {
            name: str(data.get(f"{name}-{key}", "")) for name in ("text", "kind", "options", "low", "high", "name")
        }
        rows.append(QuestionRow(key=key, **fields, required=f"required-{key}" in data))
    return rows


def edit_rows(
    rows: Sequence[R], do: str, *, fresh: Callable[[str], R] | None = None, first: str = "text"
) -> tuple[list[R], str]:
    """Apply the action of a button; return the rows and the ID of the element to focus.

    Parameters
    ----------
    fresh
        Creates a row from a key; by default, a question.
    first
        The first field of a row.
    """
    what, _colon, key = do.partition(":")
    rows = list(rows)
    if what == "add" and len(rows) < surveys.MOST_QUESTIONS:
        free = _free_key(rows)
        row = fresh(free) if fresh else cast("R", QuestionRow(key=free))
        return [*rows, row], f"{first}-{free}"
    index = next((n for n, row in enumerate(rows) if row.key == key), None)
    if index is None:
        return rows, ""
    if what == "remove":
        del rows[index]
        return rows, f"{first}-{rows[min(index, len(rows) - 1)].key}" if rows else "add"
    if what in MOVES:
        to = min(max(index + MOVES[what], 0), len(rows) - 1)
        rows.insert(to, rows.pop(index))
        return rows, f"{what}-{key}"
    return rows, ""


def questions(rows: Sequence[QuestionRow]) -> list[dict[str, Any]]:
    """Convert rows to unchecked questions (see `surveys.parse`); generate missing names."""
    named: list[QuestionRow] = []
    for row in rows:
        taken = {each.name for each in named} | {each.name for each in rows if each.name}
        named.append(row if row.name.strip() else replace(row, name=name_of(row.text, taken)))
    return [_question(row) for row in named]


def _question(row: QuestionRow) -> dict[str, Any]:
    question: dict[str, Any] = {"name": row.name.strip(), "text": row.text.strip(), "kind": row.kind}
    usual = ("1", "2", "3", "4", "5") if row.kind == "scale" else ()
    options = [] if row.kind == "text" else options_of(row.options, usual=usual)
    question |= {"options": options, "required": row.required}
    if row.kind == "scale":
        question |= {end: text.strip() for end, text in (("low", row.low), ("high", row.high)) if text.strip()}
    return question


def options_of(written: str, *, usual: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Parse options, one per line, "1 = yes" or "yes"; if there are none, use `usual`."""
    lines = [line for line in written.splitlines() if line.strip()] or usual
    return [_option(line, number) for number, line in enumerate(lines, start=1)]


def _option(line: str, number: int) -> dict[str, Any]:
    """Parse "1 = yes", or "yes" with the line's number as its value."""
    matched = _OPTION.fullmatch(line.strip())
    value, label = (matched[1], matched[2]) if matched else (None, line.strip())
    if value is None:
        return {"value": number, "label": label}
    return {"value": int(value) if re.fullmatch(r"-?\d+", value) else value, "label": label}


def name_of(text: str, taken: set[str]) -> str:
    """Generate a unique name from a question's first words."""
    plain = normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)[:5]
    name = "_".join(words)[:50].strip("_")
    name = name if name[:1].isalpha() else f"question_{name}".rstrip("_")
    candidate, number = name, 1
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate


def _free_key(rows: Sequence[KeyedRow]) -> str:
    numbers = [int(row.key[1:]) for row in rows if re.fullmatch(r"q\d{1,6}", row.key)]
    return f"q{max(numbers, default=-1) + 1}"
