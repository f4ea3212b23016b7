"""Forms of a campaign, and its questions as an editable table."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from django import forms

from crowdrag.assignments.terms import TermsForm, form_field
from crowdrag.studies.models import Study
from crowdrag.ui.form_sections import FormSection, mark_conditional
from writing.corpus import versions
from writing.enums import Origin
from writing.models import Style
from writing.plans import forms as plan_forms
from writing.plans.forms import LicenceField

from ..campaign_types.registry import ASKING_AGAIN, CHOICES, type_of
from ..enums import CampaignKind, CampaignState, GoalKind, Judges
from ..models import Campaign, CampaignGoal, Dimension
from . import goals, services
from . import questions as campaign_questions
from .default_texts import LONGEST_TEXT
from .design import EVEN, FILL, LEAST, MINIMAL, MOST, PICKED, SHORT, Design, limits, read_design
from .questions import MOST_QUESTIONS, QuestionTerms

REMAINDERS: Final = (
    (EVEN, "sizes differ by at most one"),
    (SHORT, "the last questionnaire is shorter"),
    (FILL, "show more pairs in both orders until all questionnaires are full"),
)
RULES: Final = (
    (LEAST, "lowest agreement among judges"),
    (
        MINIMAL,
        "random sample of hard items (a majority on at most 4 of 7 questions)",
    ),
    (PICKED, "selected by hand"),
)
POLICY_HELP: Final = (
    "The fixed order fills one questionnaire after the other. Balanced random gives each questionnaire its first judge "
    "before a second one. Information gain prefers questionnaires that tell most about the order of systems. "
    "Competence-aware routing gives hard items and further questionnaires to judges who are known to be good, so allow "
    "several questionnaires per person. The last two need short questionnaires to save anything."
)
_CODES: Final = re.compile(r"[\s,;]+")


# The terms that the page of a new campaign asks for.
_NEW_TERMS: Final = ("k", "minutes", "pay", "wage_floor", "questionnaires_per_person")


class NewForm(forms.ModelForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """A new campaign: its name, type, judges, time and pay."""

    kind = forms.ChoiceField(
        label="Campaign type",
        widget=forms.RadioSelect,
        initial=CampaignKind.PAIRWISE,
        choices=CHOICES,
    )
    source = forms.ModelChoiceField(
        label="Source campaign",
        queryset=Campaign.objects.none(),
        required=False,
        empty_label="none",
        help_text="The experts judge items of this campaign.",
    )

    class Meta:
        model = Campaign
        fields = ("name", "kind", "source", *_NEW_TERMS)
        formfield_callback = form_field

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        sources = Campaign.objects.filter(study=study).exclude(judges=Judges.MODEL).exclude(kind__in=ASKING_AGAIN)
        self.fields["source"].queryset = sources.order_by("name", "pk")  # type: ignore[attr-defined]
        for name in ("pay", "wage_floor"):
            self.fields[name].of(study.currency)  # type: ignore[attr-defined]
        mark_conditional(self, "source", "pay")

    def clean(self) -> dict[str, Any]:
        """Require the pay unless experts judge; only they have a source."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("kind") not in ASKING_AGAIN:
            cleaned["source"] = None
            if "pay" in cleaned and cleaned["pay"] is None:
                self.add_error("pay", "Enter the pay. Enter 0 if the judges are volunteers.")
        return cleaned

    @property
    def terms(self) -> dict[str, Any]:
        """The entered terms that differ from the defaults, which depend on the type."""
        return {name: self.cleaned_data[name] for name in _NEW_TERMS if name in self.changed_data}

    @property
    def sections(self) -> list[FormSection]:
        """The essential fields, and two that can be left unchanged."""
        folded = ("wage_floor", "questionnaires_per_person")
        essential = [field for field in self if field.name not in folded]
        return [FormSection("campaign", "Campaign", essential, [self[name] for name in folded])]


class CampaignForm(TermsForm):
    """Design, terms, pay and eligibility of a campaign. After launch, only what can still change."""

    PAID: Final = ("pay", "fee", "tax", "wage_floor")
    ASKED: Final = ("k", "minutes", "questionnaires_per_person")
    ASKED_ADVANCED: Final = ("lease_minutes", "minimum_seconds", "allows_comments", "shows_passages", "has_practice")
    CHOSEN: Final = ("policy", "control_share")
    TERMS = ("name", *ASKED, *ASKED_ADVANCED, *PAID, *CHOSEN)
    WHO: Final = ("languages", "countries", "approval_rate", "completed")
    DRAWN_ESSENTIAL: Final = (
        "rule", "rule_items", "topic_sample", "pairs_per_topic", "reverse_share", "items_per_questionnaire",
    )  # fmt: skip
    DRAWN_ADVANCED: Final = ("topics", "styles", "origins", "remainder", "seed")
    DRAWN: Final = (*DRAWN_ESSENTIAL, *DRAWN_ADVANCED)

    languages = forms.CharField(
        label="First languages", required=False, max_length=1000,
        help_text="Language codes, for example: en, de. Leave empty for any.",
    )  # fmt: skip
    countries = forms.CharField(
        label="Countries", required=False, max_length=2000,
        help_text="Country codes, for example: GB, US. Leave empty for any.",
    )  # fmt: skip
    approval_rate = forms.FloatField(label="Minimum approval rate (%)", min_value=0, max_value=100, required=False)
    completed = forms.IntegerField(
        label="Minimum number of completed tasks", min_value=0, max_value=MOST, required=False
    )
    topics = forms.CharField(
        label="Topics", required=False, max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono"}),
        help_text="Topic IDs, one per line. Leave empty for all.",
    )  # fmt: skip
    topic_sample = forms.IntegerField(
        label="Random sample of topics", **limits("topic_sample"), required=False,
        help_text="Number of topics. Leave empty for all.",
    )  # fmt: skip
    styles = forms.MultipleChoiceField(
        label="Styles", widget=forms.CheckboxSelectMultiple, required=False,
        help_text="If you select none, all are used.",
    )  # fmt: skip
    origins = forms.MultipleChoiceField(
        label="Origin", widget=forms.CheckboxSelectMultiple, choices=Origin.choices, required=False,
        help_text="If you select none, all are used.",
    )  # fmt: skip
    pairs_per_topic = forms.IntegerField(
        label="Pairs per topic", **limits("pairs_per_topic"), required=False,
        help_text="Each response appears in about the same number of pairs. Leave empty for all pairs.",
    )  # fmt: skip
    reverse_share = forms.DecimalField(
        label="Pairs shown in both orders (%)", min_value=0, max_value=100,
        max_digits=5, decimal_places=2,
        help_text="The two orders are never in the same questionnaire. The pairs are stratified by length and origin.",
    )  # fmt: skip
    rule = forms.ChoiceField(label="Item selection", choices=RULES, widget=forms.RadioSelect)
    rule_items = forms.IntegerField(
        label="Number of items", **limits("rule_items"),
        help_text="Ignored if you select the items by hand.",
    )  # fmt: skip
    items_per_questionnaire = forms.IntegerField(label="Items per questionnaire", **limits("items_per_questionnaire"))
    remainder = forms.ChoiceField(
        label="If the items do not divide evenly", choices=REMAINDERS, widget=forms.RadioSelect
    )
    seed = forms.IntegerField(
        label="Random seed", **limits("seed"),
        help_text="The same seed generates the same questionnaires from the same responses.",
    )  # fmt: skip

    class Meta:
        model = Campaign
        fields = ("name", "k", "questionnaires_per_person", "lease_minutes", "minimum_seconds", "allows_comments",
                  "shows_passages", "has_practice", "pay", "fee", "tax", "minutes", "wage_floor", "policy",
                  "control_share")  # fmt: skip
        formfield_callback = form_field

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any):
        self.campaign, self.design = campaign, read_design(campaign.design)
        super().__init__(campaign, *args, initial=self._initial(), **kwargs)
        self.fields["styles"].choices = [  # type: ignore[attr-defined]
            (name, style.label) for name, style in sorted(versions.current(Style, study=campaign.study).items())
        ]
        self._leave_out()
        if not type_of(campaign).asks_again:
            mark_conditional(self, "pay")

    def _initial(self) -> dict[str, Any]:
        who = self.campaign.eligibility
        return {
            **{name: getattr(self.design, name) for name in self.DRAWN},
            "topics": "\n".join(self.design.topics),
            "styles": list(self.design.styles),
            "origins": list(self.design.origins),
            # The same type as the field's value, so that an untouched field does not count as changed.
            "reverse_share": Decimal(f"{100 * self.design.reverse_share:.2f}"),
            "languages": ", ".join(who.get("languages", ())),
            "countries": ", ".join(who.get("countries", ())),
            "approval_rate": who.get("approval_rate"),
            "completed": who.get("completed"),
        }

    def _leave_out(self) -> None:
        """Remove the fields that do not apply to this campaign, and disable those that were promised to people."""
        campaign_type = type_of(self.campaign)
        gone = set(self.DRAWN) - campaign_type.design_fields
        if campaign_type.asks_again:
            gone |= set(self.WHO)
        if self.campaign.state != CampaignState.DRAFT:
            gone |= set(self.DRAWN)
            for name in services.PROMISED:
                self.fields[name].disabled = True
        for name in gone:
            del self.fields[name]
        if "pairs_per_topic" not in campaign_type.design_fields and "remainder" in self.fields:
            self.fields["remainder"].choices = REMAINDERS[:2]  # type: ignore[attr-defined]

    @property
    def sections(self) -> list[FormSection]:
        """The fields by section, without the sections that do not apply to this campaign."""
        items = "Item selection" if type_of(self.campaign).asks_again else "Items"
        promised = "Judges who already have a questionnaire keep the pay they were promised."
        on_platform = (
            "The recruitment platform applies these rules. They do not apply to people who use your own links."
        )
        sections = (
            ("general", "General", ("name",), (), ""),
            ("items", items, self.DRAWN_ESSENTIAL, self.DRAWN_ADVANCED, ""),
            ("judges", "Judges and time", self.ASKED, self.ASKED_ADVANCED, ""),
            ("assignment", "Assignment of questionnaires", self.CHOSEN, (), POLICY_HELP),
            ("pay", "Pay", self.PAID, (), promised),
            ("eligibility", "Eligibility", self.WHO, (), on_platform),
        )
        shown = [
            FormSection(name, title, self._fields(essential), self._fields(advanced), help_text)
            for name, title, essential, advanced, help_text in sections
        ]
        return [section for section in shown if section.essential]

    def _fields(self, names: tuple[str, ...]) -> list[forms.BoundField]:
        return [self[name] for name in names if name in self.fields]

    @property
    def terms(self) -> dict[str, Any]:
        """The terms that were entered, with the eligibility rules if the form asks for them."""
        data, terms = self.cleaned_data, super().terms
        if "minimum_seconds" not in self.changed_data:
            terms.pop("minimum_seconds", None)  # a default follows the minutes
        if "languages" not in data:
            return terms
        return terms | {
            "eligibility": {
                "languages": [code.lower() for code in _codes(data["languages"])],
                "countries": [code.upper() for code in _codes(data["countries"])],
                "approval_rate": data["approval_rate"],
                "completed": data["completed"],
            }
        }

    @property
    def new_design(self) -> Design | None:
        """The stored design with the entered changes; None if the campaign is not a draft."""
        changed = {name: self.cleaned_data[name] for name in self.changed_data if name in self.DRAWN}
        if self.campaign.state != CampaignState.DRAFT:
            return None
        if "topics" in changed:
            changed["topics"] = tuple(_codes(changed["topics"]))
        for name in ("styles", "origins"):
            if name in changed:
                changed[name] = tuple(changed[name])
        if "reverse_share" in changed:
            changed["reverse_share"] = float(changed["reverse_share"]) / 100
        return replace(self.design, **changed)


class InstructionsForm(forms.Form):
    """Instructions for judges."""

    text = forms.CharField(
        label="Instructions", widget=forms.Textarea(attrs={"rows": 24}), strip=False,
        max_length=LONGEST_TEXT,
        help_text=("Use Markdown: a blank line starts a paragraph, - starts a list item, ** makes text bold."),
    )  # fmt: skip


class ConsentForm(forms.Form):
    """The consent text, and the licences under which data are released."""

    text = forms.CharField(
        label="Consent text", widget=forms.Textarea(attrs={"rows": 24}), strip=False,
        max_length=LONGEST_TEXT,
        help_text="Use Markdown. The text must say what is recorded. The default text does.",
    )  # fmt: skip
    text_licence = LicenceField(label="Licence of the answers")
    timing_licence = LicenceField(
        label="Licence of the times", required=False,
        help_text=("Judges choose whether their times are released. Leave empty to release no times and ask nobody."),
    )  # fmt: skip


def _codes(text: str) -> list[str]:
    return [code for code in _CODES.split(text.strip()) if code]


FIELDS: Final = ("name", "label", "question", "description", "options")


@dataclass(frozen=True)
class QuestionRow:
    """One question in the editor; `key` identifies it while it moves."""

    key: str
    name: str = ""
    label: str = ""
    question: str = ""
    description: str = ""
    options: str = ""
    why: bool = False


def rows_of(dimensions: Iterable[Dimension]) -> list[QuestionRow]:
    """Return dimensions as rows."""
    return [
        QuestionRow(
            key=f"q{number}",
            name=each.name,
            label=each.label,
            question=each.question,
            description=each.description,
            options="\n".join(f"{option['value']} = {option['label']}" for option in each.options),
            why=each.asks_justification,
        )
        for number, each in enumerate(dimensions)
    ]


def read_rows(data: Mapping[str, Any], keys: Sequence[str]) -> list[QuestionRow]:
    """Return the submitted rows."""
    return [
        QuestionRow(key=key, why=f"why-{key}" in data, **{name: str(data.get(f"{name}-{key}", "")) for name in FIELDS})
        for key in dict.fromkeys(keys[: MOST_QUESTIONS + 1])
    ]


def edit_rows(rows: Sequence[QuestionRow], do: str, *, pairwise: bool) -> tuple[list[QuestionRow], str]:
    """Return the rows after a button was pressed, and the id of the element to focus."""
    usual = default_options(pairwise=pairwise)
    return plan_forms.edit_rows(rows, do, fresh=lambda key: QuestionRow(key=key, options=usual), first="label")


def default_options(*, pairwise: bool) -> str:
    """Return the options of a new question, one per line."""
    if pairwise:
        return "-1 = Response A\n0 = Neither\n1 = Response B"
    return "-3 = very poor\n-1 = somewhat poor\n1 = somewhat good\n3 = very good"


def questions_of_rows(rows: Sequence[QuestionRow]) -> list[QuestionTerms]:
    """Return rows as unchecked questions; those without a short name get one."""
    named: list[QuestionRow] = []
    for row in rows:
        taken = {each.name for each in named} | {each.name for each in rows if each.name}
        named.append(
            row if row.name.strip() else replace(row, name=plan_forms.name_of(row.label or row.question, taken))
        )
    return [
        QuestionTerms(
            name=row.name.strip(),
            label=row.label,
            question=row.question,
            description=row.description,
            options=plan_forms.options_of(row.options),
            asks_justification=row.why,
        )
        for row in named
    ]


NO_GOAL: Final = "none"


class GoalForm(forms.Form):
    """What a campaign is to find out, if anything. After the first look, only whether it is closed can change."""

    kind = forms.ChoiceField(
        label="Question", widget=forms.RadioSelect,
        choices=((NO_GOAL, "No goal: collect all planned judgments"), *GoalKind.choices),
    )  # fmt: skip
    dimension = forms.ChoiceField(label="Dimension", required=False)
    systems = forms.MultipleChoiceField(
        label="Systems", required=False, widget=forms.CheckboxSelectMultiple,
        help_text="Two or more. All people count as one system.",
    )  # fmt: skip
    first = forms.ChoiceField(label="Is this system better", required=False)
    second = forms.ChoiceField(label="than this one", required=False)
    margin = forms.FloatField(
        label="by more than this many grades", required=False, min_value=0, max_value=goals.MOST_GRADES,
        help_text="0 if any difference counts. A topic with six responses has grades from 1 to 6.",
    )  # fmt: skip
    width = forms.FloatField(
        label="Width of each interval in grades", required=False, min_value=0.01, max_value=goals.MOST_GRADES,
        help_text="From its lower to its upper end, on the same scale.",
    )  # fmt: skip
    confidence = forms.FloatField(
        label="Confidence (%)", min_value=51, max_value=99.99, required=False,
        help_text="The answer is right in at least this share of campaigns, however often you look.",
    )  # fmt: skip
    closes_campaign = forms.BooleanField(
        label="Close the campaign when decided", required=False,
        help_text="Nobody gets a new questionnaire then. People who have one can finish it and are paid.",
    )  # fmt: skip

    def __init__(self, campaign: Campaign, goal: CampaignGoal | None, data: Any = None, *, is_fixed: bool = False):
        super().__init__(data, initial=_initial_goal(goal))
        known = goals.systems_of(campaign.study)
        systems = [(name, goals.label_of(name)) for name in dict.fromkeys([*known, *(goal.systems if goal else ())])]
        dimensions = [(each.name, each.label) for each in campaign_questions.questions_of(campaign)]
        for name, choices in (("systems", systems), ("first", systems), ("second", systems), ("dimension", dimensions)):
            self.fields[name].choices = choices  # type: ignore[attr-defined]
        mark_conditional(self, "dimension", "systems", "first", "second", "margin", "width", "confidence")
        if is_fixed:
            for name in self.fields:
                self.fields[name].disabled = name != "closes_campaign"

    @property
    def sections(self) -> list[FormSection]:
        """All fields, by the question that needs them."""
        two, width = "Comparison of two systems", "Width of intervals"
        return [
            FormSection("question", "Question", [self["kind"], self["dimension"]]),
            FormSection("systems", "Systems", [self["systems"]], help="For all questions but the comparison of two."),
            FormSection("comparison", two, [self[name] for name in ("first", "second", "margin")]),
            FormSection("intervals", width, [self["width"]], help="Only if you ask for mean grades."),
            FormSection("decision", "Decision", [self["confidence"], self["closes_campaign"]]),
        ]

    @property
    def terms(self) -> goals.GoalTerms | None:
        """The entered goal; None if there is to be none."""
        data = self.cleaned_data
        if data["kind"] == NO_GOAL:
            return None
        is_comparison, is_width = data["kind"] == GoalKind.BETTER, data["kind"] == GoalKind.WIDTH
        return goals.GoalTerms(
            kind=data["kind"],
            dimension=data["dimension"],
            systems=(data["first"], data["second"]) if is_comparison else tuple(data["systems"]),
            margin=data["margin"] or 0.0 if is_comparison else 0.0,
            width=data["width"] if is_width else None,
            confidence=(data["confidence"] or 95) / 100,
            closes_campaign=data["closes_campaign"],
        )


def _initial_goal(goal: CampaignGoal | None) -> dict[str, Any]:
    if goal is None:
        return {"kind": NO_GOAL, "margin": 0, "confidence": 95}
    first, second = [*goal.systems, ""][:2]
    return {
        "kind": goal.kind, "dimension": goal.dimension.name, "systems": goal.systems, "first": first, "second": second,
        "margin": goal.margin, "width": goal.width, "confidence": round(100 * goal.confidence, 6),
        "closes_campaign": goal.closes_campaign,
    }  # fmt: skip
