"""How a campaign's questionnaires are drawn, and what they ask: read, and changed while it is a draft."""

from dataclasses import replace
from typing import Any, ClassVar

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role
from writing.domain import versions
from writing.enums import Origin
from writing.models import Style

from ..domain import campaigns
from ..domain.campaigns import design, questions
from ..models import Campaign, Dimension
from . import asking
from .campaigns import CHANGED, MOST

LISTS = ("topics", "styles", "origins", "picked")


class DesignRow(serializers.Serializer[Campaign]):
    """How a campaign's questionnaires are drawn. What a kind of campaign does not use is as usual."""

    topics = serializers.ListField(child=serializers.CharField(), help_text="Ids; none: all.")
    styles = serializers.ListField(child=serializers.CharField(), help_text="Names; none: all.")
    origins = serializers.ListField(child=serializers.CharField(), help_text="None: all.")
    topic_sample = serializers.IntegerField(allow_null=True, help_text="So many topics, drawn; null: all.")
    pairs_per_topic = serializers.IntegerField(allow_null=True, help_text="Null: all pairs.")
    reverse_share = serializers.FloatField(help_text="The share of pairs that are shown in both orders.")
    items_per_questionnaire = serializers.IntegerField()
    remainder = serializers.CharField(help_text="If it does not come out even.")
    seed = serializers.IntegerField(help_text="The same seed draws the same from the same responses.")
    checks = serializers.IntegerField(help_text="Attention checks in each questionnaire (changed under `checks/`).")
    gold = serializers.IntegerField(help_text="Items with known labels in each (changed under `checks/`).")
    rule = serializers.CharField(help_text="Of experts: which items.")
    rule_items = serializers.IntegerField(help_text="Of experts: how many.")
    picked = serializers.ListField(child=serializers.IntegerField(), help_text="Of experts: the source's items.")

    def to_representation(self, instance: Campaign) -> dict[str, Any]:
        """Return the design that a campaign keeps."""
        return super().to_representation(design.read(instance.design))  # type: ignore[arg-type] # its fields are these


class ChangedDesign(RequestBody):
    """What is to be drawn otherwise; what is left out stays."""

    topics = serializers.ListField(child=serializers.CharField(max_length=200), required=False, max_length=100_000)
    styles = serializers.ListField(child=serializers.CharField(max_length=100), required=False, max_length=1000)
    origins = serializers.ListField(child=serializers.ChoiceField(Origin.choices), required=False, max_length=3)
    topic_sample = serializers.IntegerField(min_value=1, max_value=design.MOST, required=False, allow_null=True)
    pairs_per_topic = serializers.IntegerField(min_value=1, max_value=design.MOST, required=False, allow_null=True)
    reverse_share = serializers.FloatField(min_value=0, max_value=1, required=False)
    items_per_questionnaire = serializers.IntegerField(min_value=1, max_value=design.MOST_ITEMS, required=False)
    remainder = serializers.ChoiceField(design.REMAINDERS, required=False)
    seed = serializers.IntegerField(min_value=0, max_value=design.MOST_SEED, required=False)
    rule = serializers.ChoiceField(design.RULES, required=False)
    rule_items = serializers.IntegerField(min_value=1, max_value=design.MOST, required=False)
    picked = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MOST), required=False, max_length=100_000
    )


class Designed(Endpoint):
    """A campaign's design."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PATCH": CHANGED}
    serializer_class = DesignRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show how a campaign's questionnaires are drawn."""
        return Response(DesignRow(self.one(asking.of_people(self), pk=campaign)).data)

    @extend_schema(request=ChangedDesign, responses=DesignRow)
    def patch(self, request: Request, study: str, campaign: int) -> Response:
        """Change the design of a draft. What was drawn is dropped, and instructions that are the usual ones follow."""
        given = self.given(ChangedDesign)
        self._know_styles(given.get("styles", []))
        given |= {name: tuple(given[name]) for name in LISTS if name in given}
        with self.unchanged(asking.of_people(self).filter(pk=campaign), DesignRow) as held:
            wanted, terms = replace(design.read(held.design), **given), campaigns.terms_of(held)
            done = asking.asked(campaigns.change, campaign=held, terms=terms, design=wanted, now=timezone.now())
            return Response(DesignRow(done).data)

    def _know_styles(self, named: list[str]) -> None:
        """Refuse a style that the study does not have: it would leave nothing to be drawn."""
        known = versions.current(Style, study=self.study) if named else {}
        if unknown := [name for name in named if name not in known]:
            said = _("The study has no style %(names)s.") % {"names": ", ".join(unknown)}
            raise Problem("refused", said, errors=[{"pointer": "#/styles", "detail": said, "code": "unknown"}])


class QuestionRow(serializers.ModelSerializer[Dimension]):
    """A question in the version that is asked."""

    options = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = Dimension
        fields = ["name", "version", "label", "question", "description", "options", "asks_justification"]


class QuestionsRow(serializers.Serializer[Campaign]):
    """What a campaign asks of each item, in order."""

    questions = QuestionRow(many=True)

    def to_representation(self, instance: Campaign) -> dict[str, Any]:
        """Return the questions of a campaign."""
        return super().to_representation({"questions": questions.of(instance)})  # type: ignore[arg-type]


class Option(RequestBody):
    """An answer. Of two responses -1 is the left one, 1 the right one, 0 neither."""

    value = serializers.IntegerField(min_value=-questions.MOST_VALUE, max_value=questions.MOST_VALUE)
    label = serializers.CharField(max_length=questions.LONGEST_OPTION)  # type: ignore[assignment] # a field, and no attribute


class Question(RequestBody):
    """A question. Its name stays the same over its versions; one that differs from what the study has is a new one."""

    name = serializers.RegexField(f"^{questions.NAME.pattern}$", max_length=100)
    label = serializers.CharField(max_length=100, help_text="What it is called.")  # type: ignore[assignment]
    question = serializers.CharField(max_length=5000)
    description = serializers.CharField(max_length=5000, required=False, allow_blank=True)
    options = serializers.ListField(child=Option(), min_length=2, max_length=questions.MOST_OPTIONS)
    asks_justification = serializers.BooleanField(required=False)


class Wanted(RequestBody):
    """All that a campaign is to ask, in order."""

    questions = serializers.ListField(child=Question(), min_length=1, max_length=questions.MOST_QUESTIONS)


class Questions(Endpoint):
    """A campaign's questions."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PUT": CHANGED}
    serializer_class = QuestionsRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show what a campaign asks of each item, in order."""
        return Response(QuestionsRow(self.one(asking.of_people(self), pk=campaign)).data)

    @extend_schema(request=Wanted, responses=QuestionsRow)
    def put(self, request: Request, study: str, campaign: int) -> Response:
        """Let a draft ask these questions in this order. Other questions drop what was drawn."""
        wanted = [questions.Asked(**each) for each in self.given(Wanted)["questions"]]
        with self.unchanged(asking.of_people(self).filter(pk=campaign), QuestionsRow) as held:
            done = asking.asked(questions.change, campaign=held, asked=wanted, now=timezone.now())
            return Response(QuestionsRow(done).data)
