"""Endpoints of a campaign's content: design, questions, instructions, consent, checks, goal."""

from dataclasses import replace
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role
from writing.corpus import versions
from writing.enums import Origin
from writing.models import Style

from ..enums import GoalKind
from ..models import Campaign, CampaignGoal, Dimension, GoalLook
from ..quality import attention_checks
from ..quality.problems import BadText, ChecksProblem
from . import api, default_texts, design, goals, questions, services
from .api import CHANGED, MOST

LISTS = ("topics", "styles", "origins", "picked")


class DesignRow(serializers.Serializer[Campaign]):
    """How the questionnaires of a campaign are drawn. Fields that a campaign type does not use have default values."""

    topics = serializers.ListField(child=serializers.CharField(), help_text="Topic IDs. Empty: all.")
    styles = serializers.ListField(child=serializers.CharField(), help_text="Style names. Empty: all.")
    origins = serializers.ListField(child=serializers.CharField(), help_text="Empty: all.")
    topic_sample = serializers.IntegerField(allow_null=True, help_text="Size of a random sample of topics. Null: all.")
    pairs_per_topic = serializers.IntegerField(allow_null=True, help_text="Null: all pairs.")
    reverse_share = serializers.FloatField(help_text="Share of pairs shown in both orders.")
    items_per_questionnaire = serializers.IntegerField()
    remainder = serializers.CharField(help_text="What to do if the items do not divide evenly.")
    seed = serializers.IntegerField(
        help_text="The same seed generates the same questionnaires from the same responses."
    )
    checks = serializers.IntegerField(help_text="Attention checks in each questionnaire (change them under `checks/`).")
    gold = serializers.IntegerField(
        help_text=("Items with known labels in each questionnaire (change them under `checks/`).")
    )
    rule = serializers.CharField(help_text="Expert campaigns only: how items are selected.")
    rule_items = serializers.IntegerField(help_text="Expert campaigns only: number of items.")
    picked = serializers.ListField(
        child=serializers.IntegerField(), help_text=("Expert campaigns only: items of the source campaign.")
    )
    chosen_pairs = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="Pairs of response IDs to show instead of drawn pairs. Empty: pairs are drawn.",
    )

    def to_representation(self, instance: Campaign) -> dict[str, Any]:
        """Return the design that a campaign keeps."""
        return super().to_representation(design.read_design(instance.design))  # type: ignore[arg-type] # its fields are these


class ChangedDesign(RequestBody):
    """Changes of the design. Omitted fields stay unchanged."""

    topics = serializers.ListField(child=serializers.CharField(max_length=200), required=False, max_length=100_000)
    styles = serializers.ListField(child=serializers.CharField(max_length=100), required=False, max_length=1000)
    origins = serializers.ListField(child=serializers.ChoiceField(Origin.choices), required=False, max_length=3)
    topic_sample = serializers.IntegerField(**design.limits("topic_sample"), required=False, allow_null=True)
    pairs_per_topic = serializers.IntegerField(**design.limits("pairs_per_topic"), required=False, allow_null=True)
    reverse_share = serializers.FloatField(**design.limits("reverse_share"), required=False)
    items_per_questionnaire = serializers.IntegerField(**design.limits("items_per_questionnaire"), required=False)
    remainder = serializers.ChoiceField(design.REMAINDERS, required=False)
    seed = serializers.IntegerField(**design.limits("seed"), required=False)
    rule = serializers.ChoiceField(design.RULES, required=False)
    rule_items = serializers.IntegerField(**design.limits("rule_items"), required=False)
    picked = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MOST), required=False, max_length=100_000
    )
    chosen_pairs = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField(max_length=200), min_length=2, max_length=2),
        required=False,
        max_length=100_000,
    )


class Designed(Endpoint):
    """A campaign's design."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PATCH": CHANGED}
    serializer_class = DesignRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show how a campaign's questionnaires are drawn."""
        return Response(DesignRow(self.one(api.campaigns_of_people(self), pk=campaign)).data)

    @extend_schema(request=ChangedDesign, responses=DesignRow)
    def patch(self, request: Request, study: str, campaign: int) -> Response:
        """Change the design of a draft. Drawn questionnaires are discarded, and default instructions are updated."""
        data = self.validated(ChangedDesign)
        self._know_styles(data.get("styles", []))
        data |= {name: tuple(data[name]) for name in LISTS if name in data}
        if "chosen_pairs" in data:
            data["chosen_pairs"] = tuple((first, second) for first, second in data["chosen_pairs"])
        with self.unchanged(api.campaigns_of_people(self).filter(pk=campaign), DesignRow) as held:
            changed_design = replace(design.read_design(held.design), **data)
            done = api.run_or_refuse(
                services.change_terms, campaign=held, terms={}, design=changed_design, now=timezone.now()
            )
            return Response(DesignRow(done).data)

    def _know_styles(self, named: list[str]) -> None:
        """Refuse a style that the study does not have: it would leave nothing to be drawn."""
        known = versions.current(Style, study=self.study) if named else {}
        if unknown := [name for name in named if name not in known]:
            message = "The study has no style called {names}.".format(names=", ".join(unknown))
            raise Problem("refused", message, errors=[{"pointer": "#/styles", "detail": message, "code": "unknown"}])


class QuestionRow(serializers.ModelSerializer[Dimension]):
    """A question in the version used by the campaign."""

    options = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = Dimension
        fields = ["name", "version", "label", "question", "description", "options", "asks_justification"]


class QuestionsRow(serializers.Serializer[Campaign]):
    """The questions that a campaign asks about each item, in order."""

    questions = QuestionRow(many=True)

    def to_representation(self, instance: Campaign) -> dict[str, Any]:
        """Return the questions of a campaign."""
        return super().to_representation({"questions": questions.questions_of(instance)})  # type: ignore[arg-type]


class Option(RequestBody):
    """An answer. For pairs: -1 is left, 1 is right, 0 is neither."""

    value = serializers.IntegerField(min_value=-questions.MOST_VALUE, max_value=questions.MOST_VALUE)
    label = serializers.CharField(max_length=questions.LONGEST_OPTION)  # type: ignore[assignment] # a field, and no attribute


class Question(RequestBody):
    """A question. Its short name is the same in all versions. A changed question becomes a new version."""

    name = serializers.RegexField(f"^{questions.NAME.pattern}$", max_length=100)
    label = serializers.CharField(max_length=100, help_text="Label of the question.")  # type: ignore[assignment]
    question = serializers.CharField(max_length=5000)
    description = serializers.CharField(max_length=5000, required=False, allow_blank=True)
    options = serializers.ListField(child=Option(), min_length=2, max_length=questions.MOST_OPTIONS)
    asks_justification = serializers.BooleanField(required=False)


class QuestionList(RequestBody):
    """All questions of a campaign, in order."""

    questions = serializers.ListField(child=Question(), min_length=1, max_length=questions.MOST_QUESTIONS)


class Questions(Endpoint):
    """A campaign's questions."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PUT": CHANGED}
    serializer_class = QuestionsRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show the questions that a campaign asks about each item, in order."""
        return Response(QuestionsRow(self.one(api.campaigns_of_people(self), pk=campaign)).data)

    @extend_schema(request=QuestionList, responses=QuestionsRow)
    def put(self, request: Request, study: str, campaign: int) -> Response:
        """Set the questions of a draft in this order. Changed questions discard the drawn questionnaires."""
        terms = [questions.QuestionTerms(**each) for each in self.validated(QuestionList)["questions"]]
        with self.unchanged(api.campaigns_of_people(self).filter(pk=campaign), QuestionsRow) as held:
            done = api.run_or_refuse(questions.change_questions, campaign=held, terms=terms, now=timezone.now())
            return Response(QuestionsRow(done).data)


LICENCE = 100


class InstructionsRow(serializers.Serializer[Campaign]):
    """The instructions for judges."""

    text = serializers.CharField(source="instructions.text", default="", help_text="Markdown.")
    version = serializers.IntegerField(source="instructions.version", default=None, allow_null=True)


class NewInstructions(RequestBody):
    """New instructions."""

    text = serializers.CharField(max_length=default_texts.LONGEST_TEXT, trim_whitespace=False, help_text="Markdown.")


class ConsentRow(serializers.Serializer[Campaign]):
    """The judges' consent text and the licences of their data."""

    text = serializers.CharField(source="consent_text.text", default="", help_text="Markdown.")
    text_licence = serializers.CharField(
        source="consent_text.text_licence", default="", help_text=("Licence of the answers.")
    )
    timing_licence = serializers.CharField(
        source="consent_text.timing_licence",
        default="",
        help_text=("Licence of the times. Empty: times are not released."),
    )
    version = serializers.IntegerField(source="consent_text.version", default=None, allow_null=True)


class NewConsent(RequestBody):
    """A new consent text."""

    text = serializers.CharField(max_length=default_texts.LONGEST_TEXT, trim_whitespace=False, help_text="Markdown.")
    text_licence = serializers.CharField(max_length=LICENCE, help_text="For example `CC-BY-4.0`.")
    timing_licence = serializers.CharField(max_length=LICENCE, required=False, allow_blank=True, default="")


class ChecksRow(serializers.Serializer[Campaign]):
    """Quality checks: the number of attention checks and known items per questionnaire, and the texts of the checks."""

    checks = serializers.IntegerField(help_text="Number of attention checks in each questionnaire.")
    gold = serializers.IntegerField(help_text="Items with known labels in each questionnaire.")
    instructed = serializers.ListField(
        child=serializers.CharField(), help_text=("Checks that tell judges which answer to select.")
    )
    nonsense = serializers.ListField(child=serializers.CharField(), help_text="Statements that nobody can agree with.")

    def to_representation(self, instance: Campaign) -> dict[str, Any]:
        """Return what a campaign has, or as usual."""
        kept, texts = design.read_design(instance.design), attention_checks.texts_of(instance)
        content = {"checks": kept.checks, "gold": kept.gold, "instructed": texts.instructed, "nonsense": texts.nonsense}
        return super().to_representation(content)  # type: ignore[arg-type]


class ChangedChecks(RequestBody):
    """Changes. Omitted fields stay unchanged. Without texts, the default texts are used."""

    checks = serializers.IntegerField(**design.limits("checks"), required=False)
    gold = serializers.IntegerField(**design.limits("gold"), required=False)
    instructed = serializers.ListField(
        child=serializers.CharField(max_length=attention_checks.LONGEST), required=False, max_length=100,
        help_text="Each contains {answer} as the placeholder for the answer to select.",
    )  # fmt: skip
    nonsense = serializers.ListField(
        child=serializers.CharField(max_length=attention_checks.LONGEST), required=False, max_length=100
    )


class Instructed(Endpoint):
    """A campaign's instructions."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PUT": CHANGED}
    serializer_class = InstructionsRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show the judges' instructions."""
        return Response(InstructionsRow(self.one(api.campaigns_of_people(self), pk=campaign)).data)

    @extend_schema(request=NewInstructions, responses=InstructionsRow)
    def put(self, request: Request, study: str, campaign: int) -> Response:
        """Change the instructions of a draft. This creates a new version unless one with this text exists."""
        data = self.validated(NewInstructions)
        with self.unchanged(_one(self, campaign), InstructionsRow) as held:
            done = api.run_or_refuse(services.change_instructions, campaign=held, now=timezone.now(), **data)
            return Response(InstructionsRow(done).data)


class Consent(Endpoint):
    """A campaign's consent text."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PUT": CHANGED}
    serializer_class = ConsentRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show the judges' consent text."""
        return Response(ConsentRow(self.one(api.campaigns_of_people(self), pk=campaign)).data)

    @extend_schema(request=NewConsent, responses=ConsentRow)
    def put(self, request: Request, study: str, campaign: int) -> Response:
        """Change the consent text of a draft."""
        data = self.validated(NewConsent)
        with self.unchanged(_one(self, campaign), ConsentRow) as held:
            done = api.run_or_refuse(services.change_consent, campaign=held, now=timezone.now(), **data)
            return Response(ConsentRow(done).data)


class Checks(Endpoint):
    """A campaign's attention checks."""

    needs: ClassVar = {"GET": Need(Role.EDITOR), "PATCH": CHANGED}
    serializer_class = ChecksRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show the number of checks and known items per questionnaire, and the texts of the checks."""
        return Response(ChecksRow(self.one(api.campaigns_of_people(self), pk=campaign)).data)

    @extend_schema(request=ChangedChecks, responses=ChecksRow)
    def patch(self, request: Request, study: str, campaign: int) -> Response:
        """Change the checks of a draft. Drawn questionnaires are discarded."""
        data = self.validated(ChangedChecks)
        with self.unchanged(_one(self, campaign), ChecksRow) as held:
            kept = ChecksRow(held).data
            try:
                attention_checks.change_checks(campaign=held, **{**kept, **data})
            except BadText as error:
                raise Problem("refused", str(error)) from None
            except ChecksProblem as error:
                raise Problem("conflict", str(error)) from None
            return Response(ChecksRow(_one(self, campaign).get()).data)


def _one(endpoint: Endpoint, campaign: int) -> QuerySet[Campaign]:
    return api.campaigns_of_people(endpoint).filter(pk=campaign)


GOAL_KINDS = "`best`: the best system; `better`: whether the first is better than the second by more than `margin`; "


class GoalRow(serializers.Serializer[Campaign]):
    """What a campaign is to find out about systems. `kind` is null if it has no goal."""

    kind = serializers.ChoiceField(GoalKind.choices, allow_null=True)
    dimension = serializers.CharField(allow_null=True, help_text="The name of the question.")
    systems = serializers.ListField(child=serializers.CharField(), help_text="`human` stands for all people.")
    margin = serializers.FloatField(help_text="In grades.")
    width = serializers.FloatField(allow_null=True, help_text="In grades.")
    confidence = serializers.FloatField(help_text="Probability that no decision is false, however often one looks.")
    closes_campaign = serializers.BooleanField(help_text="Whether the campaign is closed when the goal is decided.")

    def to_representation(self, instance: Campaign) -> dict[str, Any]:
        """Return the goal of a campaign."""
        goal: CampaignGoal | None = goals.find_goal(instance)
        if goal is None:
            unset: dict[str, Any] = {"kind": None, "dimension": None, "systems": [], "margin": 0.0, "width": None}
            return {**unset, "confidence": 0.95, "closes_campaign": False}
        columns = ("kind", "systems", "margin", "width", "confidence", "closes_campaign")
        return {"dimension": goal.dimension.name} | {name: getattr(goal, name) for name in columns}


class NewGoal(RequestBody):
    """A goal. It is fixed once judgments were evaluated for it; then only `closes_campaign` can change."""

    kind = serializers.ChoiceField(
        GoalKind.choices,
        help_text=GOAL_KINDS
        + "`ranking`: the order of all systems; `width`: mean grades with intervals of this width.",
    )
    dimension = serializers.CharField(max_length=100, help_text="The name of one of the campaign's questions.")
    systems = serializers.ListField(
        child=serializers.CharField(max_length=200), min_length=2, max_length=goals.MOST_SYSTEMS,
        help_text="Names of participants that wrote responses; `human` stands for all people.",
    )  # fmt: skip
    margin = serializers.FloatField(min_value=0, max_value=goals.MOST_GRADES, required=False, default=0.0)
    width = serializers.FloatField(
        min_value=0, max_value=goals.MOST_GRADES, required=False, allow_null=True, default=None
    )
    confidence = serializers.FloatField(min_value=0.5, max_value=1, required=False, default=0.95)
    closes_campaign = serializers.BooleanField(required=False, default=False)


class Goal(Endpoint):
    """A campaign's goal."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PUT": CHANGED, "DELETE": CHANGED}
    serializer_class = GoalRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show what a campaign is to find out."""
        return Response(GoalRow(self.one(api.campaigns_of_people(self), pk=campaign)).data)

    @extend_schema(request=NewGoal, responses=GoalRow)
    def put(self, request: Request, study: str, campaign: int) -> Response:
        """Set what a campaign is to find out."""
        data = self.validated(NewGoal)
        terms = goals.GoalTerms(**data | {"systems": tuple(data["systems"])})
        with self.unchanged(api.campaigns_of_people(self).filter(pk=campaign), GoalRow) as held:
            api.run_or_refuse(goals.set_goal, campaign=held, terms=terms)
            return Response(GoalRow(held).data)

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, study: str, campaign: int) -> Response:
        """Remove the goal of a campaign."""
        api.run_or_refuse(goals.remove_goal, campaign=self.one(api.campaigns_of_people(self), pk=campaign))
        return Response(status=204)


class ComparisonRow(serializers.Serializer[Any]):
    """The difference of two systems' mean grades. Its interval holds at all looks together."""

    first = serializers.CharField()
    second = serializers.CharField()
    difference = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(help_text="Adjusted for the number of comparisons, valid at any look.")


class MeanGradeRow(serializers.Serializer[Any]):
    """A system's mean grade. Its interval holds at all looks together."""

    system = serializers.CharField()
    grade = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class ForecastOfGoalRow(serializers.Serializer[Any]):
    """What is expected of the open places."""

    chance = serializers.FloatField(help_text="Probability of a decision with them.")
    votes = serializers.ListField(
        child=serializers.FloatField(allow_null=True),
        help_text="Votes in total at which a tenth, half and nine tenths of futures are decided. Null: fewer are.",
    )
    left = serializers.IntegerField(help_text="Votes that the open places give.")


class GoalLookRow(serializers.ModelSerializer[GoalLook]):
    """What was known at one time."""

    answer = serializers.ListField(
        child=serializers.CharField(), allow_null=True,
        help_text="Null if undecided. `best`: the best system; `ranking`: all, best first; `better`: the first system, "
        "or empty if it is not better by more than the margin; `width`: empty.",
    )  # fmt: skip
    comparisons = ComparisonRow(many=True)
    grades = MeanGradeRow(many=True)
    forecast = ForecastOfGoalRow(allow_null=True)

    class Meta:
        model = GoalLook
        fields = ["id", "at", "judgments", "votes", "topics", "judges", "outcome", "answer", "comparisons", "grades",
                  "forecast", "closed_at"]  # fmt: skip


class GoalLooks(ListEndpoint):
    """List the looks at a campaign's goal: what was known as judgments came in."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}
    queryset = GoalLook.objects.all()
    serializer_class = GoalLookRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """List what was known about a campaign's goal, oldest first."""
        return super().get(request)

    def rows(self) -> QuerySet[GoalLook]:
        """Return the looks of the campaign in the URL."""
        campaign = self.one(api.campaigns_of_people(self), pk=self.kwargs["campaign"])
        return self.get_queryset().filter(campaign=campaign)
