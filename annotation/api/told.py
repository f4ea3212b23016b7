"""What judges are told and asked to agree to, and what shows how they judge: read, and changed while it is a draft."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from ..domain import campaigns
from ..domain.campaigns import design
from ..domain.checks import attention
from ..domain.checks.problems import BadText, ChecksProblem
from ..models import Campaign
from . import asking
from .campaigns import CHANGED

LONGEST = 50_000
LICENCE = 100


class InstructionsRow(serializers.Serializer[Campaign]):
    """What judges are told."""

    text = serializers.CharField(source="instructions.text", default="", help_text="In Markdown.")
    version = serializers.IntegerField(source="instructions.version", default=None, allow_null=True)


class NewInstructions(RequestBody):
    """What judges are to be told."""

    text = serializers.CharField(max_length=LONGEST, trim_whitespace=False, help_text="In Markdown.")


class ConsentRow(serializers.Serializer[Campaign]):
    """What judges are asked to agree to, and under which licences what they give is released."""

    text = serializers.CharField(source="consent_text.text", default="", help_text="In Markdown.")
    text_licence = serializers.CharField(source="consent_text.text_licence", default="", help_text="Of answers.")
    timing_licence = serializers.CharField(
        source="consent_text.timing_licence", default="", help_text="Of times; empty: none are released."
    )
    version = serializers.IntegerField(source="consent_text.version", default=None, allow_null=True)


class NewConsent(RequestBody):
    """What judges are to be asked to agree to."""

    text = serializers.CharField(max_length=LONGEST, trim_whitespace=False, help_text="In Markdown.")
    text_licence = serializers.CharField(max_length=LICENCE, help_text="As `CC-BY-4.0`.")
    timing_licence = serializers.CharField(max_length=LICENCE, required=False, allow_blank=True, default="")


class ChecksRow(serializers.Serializer[Campaign]):
    """What shows how people judge: how many checks and known items a questionnaire has, and what checks say."""

    checks = serializers.IntegerField(help_text="In each questionnaire.")
    gold = serializers.IntegerField(help_text="Items with known labels in each questionnaire.")
    instructed = serializers.ListField(child=serializers.CharField(), help_text="They say which answer to give.")
    nonsense = serializers.ListField(child=serializers.CharField(), help_text="Nobody can agree with them.")

    def to_representation(self, instance: Campaign) -> dict[str, Any]:
        """Return what a campaign has, or as usual."""
        kept, texts = design.read(instance.design), attention.texts_of(instance)
        found = {"checks": kept.checks, "gold": kept.gold, "instructed": texts.instructed, "nonsense": texts.nonsense}
        return super().to_representation(found)  # type: ignore[arg-type]


class ChangedChecks(RequestBody):
    """What is to be otherwise; what is left out stays. Without any text checks say what is usual."""

    checks = serializers.IntegerField(min_value=0, max_value=design.MOST_EXTRA, required=False)
    gold = serializers.IntegerField(min_value=0, max_value=design.MOST_EXTRA, required=False)
    instructed = serializers.ListField(
        child=serializers.CharField(max_length=attention.LONGEST), required=False, max_length=100,
        help_text="Each with {answer} where the words of the answer to choose go.",
    )  # fmt: skip
    nonsense = serializers.ListField(
        child=serializers.CharField(max_length=attention.LONGEST), required=False, max_length=100
    )


class Instructed(Endpoint):
    """A campaign's instructions."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PUT": CHANGED}
    serializer_class = InstructionsRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show what judges are told."""
        return Response(InstructionsRow(self.one(asking.of_people(self), pk=campaign)).data)

    @extend_schema(request=NewInstructions, responses=InstructionsRow)
    def put(self, request: Request, study: str, campaign: int) -> Response:
        """Change what judges of a draft are told: a new version, unless there was one of this text."""
        given = self.given(NewInstructions)
        with self.unchanged(_one(self, campaign), InstructionsRow) as held:
            done = asking.asked(campaigns.change_instructions, campaign=held, now=timezone.now(), **given)
            return Response(InstructionsRow(done).data)


class Consent(Endpoint):
    """A campaign's consent text."""

    needs: ClassVar = {"GET": Need(Role.VIEWER), "PUT": CHANGED}
    serializer_class = ConsentRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show what judges are asked to agree to."""
        return Response(ConsentRow(self.one(asking.of_people(self), pk=campaign)).data)

    @extend_schema(request=NewConsent, responses=ConsentRow)
    def put(self, request: Request, study: str, campaign: int) -> Response:
        """Change what judges of a draft are asked to agree to."""
        given = self.given(NewConsent)
        with self.unchanged(_one(self, campaign), ConsentRow) as held:
            done = asking.asked(campaigns.change_consent, campaign=held, now=timezone.now(), **given)
            return Response(ConsentRow(done).data)


class Checks(Endpoint):
    """A campaign's attention checks."""

    needs: ClassVar = {"GET": Need(Role.EDITOR), "PATCH": CHANGED}
    serializer_class = ChecksRow

    def get(self, request: Request, study: str, campaign: int) -> Response:
        """Show how many checks and known items a questionnaire has, and what checks say."""
        return Response(ChecksRow(self.one(asking.of_people(self), pk=campaign)).data)

    @extend_schema(request=ChangedChecks, responses=ChecksRow)
    def patch(self, request: Request, study: str, campaign: int) -> Response:
        """Change the checks of a draft. What was drawn is dropped."""
        given = self.given(ChangedChecks)
        with self.unchanged(_one(self, campaign), ChecksRow) as held:
            kept = ChecksRow(held).data
            try:
                attention.change(campaign=held, **{**kept, **given})
            except BadText as error:
                raise Problem("refused", str(error)) from None
            except ChecksProblem as error:
                raise Problem("conflict", str(error)) from None
            return Response(ChecksRow(_one(self, campaign).get()).data)


def _one(endpoint: Endpoint, campaign: int) -> QuerySet[Campaign]:
    return asking.of_people(endpoint).filter(pk=campaign)
