"""The form of a campaign's goal."""

from typing import Any

from django import forms

from crowdrag.ui.form_sections import FormSection, mark_conditional

from ..enums import GoalKind
from ..models import Campaign, CampaignGoal
from . import goals, questions

NONE = ""


class GoalForm(forms.Form):
    """What a campaign is to find out, if anything. After the first look, only whether it is closed can change."""

    kind = forms.ChoiceField(
        label="Question", required=False, widget=forms.RadioSelect,
        choices=((NONE, "No goal: collect all planned judgments"), *GoalKind.choices),
    )  # fmt: skip
    dimension = forms.ChoiceField(label="Dimension", required=False)
    systems = forms.MultipleChoiceField(
        label="Systems", required=False, widget=forms.CheckboxSelectMultiple,
        help_text="Two or more. All people count as one system. Not used to compare two systems.",
    )  # fmt: skip
    first = forms.ChoiceField(label="Is this system better", required=False, help_text="To compare two systems.")
    second = forms.ChoiceField(label="than this one", required=False)
    margin = forms.FloatField(
        label="by more than this many grades", required=False, min_value=0, max_value=goals.MOST_GRADES,
        help_text="0 if any difference counts. A topic with six responses has grades from 1 to 6.",
    )  # fmt: skip
    width = forms.FloatField(
        label="Width of each interval in grades", required=False, min_value=0.01, max_value=goals.MOST_GRADES,
        help_text="Only for mean grades to a given width.",
    )  # fmt: skip
    confidence = forms.FloatField(
        label="Confidence (%)", min_value=51, max_value=99.99, required=False,
        help_text="The answer is right in at least this share of campaigns, however often you look.",
    )  # fmt: skip
    closes_campaign = forms.BooleanField(
        label="Close the campaign when decided", required=False,
        help_text="Nobody gets a new questionnaire then. People who have one can finish it and are paid.",
    )  # fmt: skip

    def __init__(
        self, campaign: Campaign, goal: CampaignGoal | None, *args: Any, is_fixed: bool = False, **kwargs: Any
    ):
        self.goal = goal
        super().__init__(*args, initial=_initial(goal), **kwargs)
        known = goals.systems_of(campaign.study)
        systems = [(name, goals.label_of(name)) for name in dict.fromkeys([*known, *(goal.systems if goal else ())])]
        asked = [(each.name, each.label) for each in questions.questions_of(campaign)]
        for name, choices in (("systems", systems), ("first", systems), ("second", systems), ("dimension", asked)):
            self.fields[name].choices = choices  # type: ignore[attr-defined]
        mark_conditional(self, "dimension", "systems", "first", "second", "margin", "width", "confidence")
        if is_fixed:
            for name in self.fields:
                self.fields[name].disabled = name != "closes_campaign"

    @property
    def sections(self) -> list[FormSection]:
        """All fields, in one section for each kind of entry."""
        return [
            FormSection("question", "Question", [self["kind"], self["dimension"]]),
            FormSection(
                "systems", "Systems", [self[name] for name in ("systems", "first", "second", "margin", "width")]
            ),
            FormSection("decision", "Decision", [self["confidence"], self["closes_campaign"]]),
        ]

    @property
    def terms(self) -> goals.GoalTerms | None:
        """The entered goal; None if there is to be none."""
        data = self.cleaned_data
        if not data["kind"]:
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


def _initial(goal: CampaignGoal | None) -> dict[str, Any]:
    if goal is None:
        return {"kind": NONE, "margin": 0, "confidence": 95}
    first, second = [*goal.systems, ""][:2]
    return {
        "kind": goal.kind, "dimension": goal.dimension.name, "systems": goal.systems, "first": first, "second": second,
        "margin": goal.margin, "width": goal.width, "confidence": round(100 * goal.confidence, 6),
        "closes_campaign": goal.closes_campaign,
    }  # fmt: skip
