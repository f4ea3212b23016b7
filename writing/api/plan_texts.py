"""What writers are told and asked: instructions, consent, questions before and after writing, styles."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.api.endpoints import Endpoint, ListEndpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from ..domain import plans, surveys
from ..enums import SurveyKind
from ..models import PlanStyle, WritingPlan
from .plan import CHANGED, asked, of

LONGEST = 50_000
LICENCE = 100
SEEN = Need(Role.VIEWER)


class WriterInstructionsRow(serializers.Serializer[WritingPlan]):
    """What writers are told, whatever the style."""

    text = serializers.CharField(source="instructions.text", default="", help_text="In Markdown.")
    version = serializers.IntegerField(source="instructions.version", default=None, allow_null=True)


class NewWriterInstructions(RequestBody):
    """What writers are to be told."""

    text = serializers.CharField(max_length=LONGEST, trim_whitespace=False, help_text="In Markdown.")


class WriterConsentRow(serializers.Serializer[WritingPlan]):
    """What writers are asked to agree to, and under which licences what they give is released."""

    text = serializers.CharField(source="consent_text.text", default="", help_text="In Markdown.")
    text_licence = serializers.CharField(source="consent_text.text_licence", default="", help_text="Of responses.")
    log_licence = serializers.CharField(
        source="consent_text.log_licence", default="", help_text="Of writing logs; empty: none are released."
    )
    timing_licence = serializers.CharField(
        source="consent_text.timing_licence", default="", help_text="Of their timing; empty: likewise."
    )
    version = serializers.IntegerField(source="consent_text.version", default=None, allow_null=True)


class NewWriterConsent(RequestBody):
    """What writers are to be asked to agree to. It must say what is recorded."""

    text = serializers.CharField(max_length=LONGEST, trim_whitespace=False, help_text="In Markdown.")
    text_licence = serializers.CharField(max_length=LICENCE, help_text="As `CC-BY-4.0`.")
    log_licence = serializers.CharField(max_length=LICENCE, required=False, allow_blank=True, default="")
    timing_licence = serializers.CharField(max_length=LICENCE, required=False, allow_blank=True, default="")


class SurveyRow(serializers.Serializer[Any]):
    """Questions before or after writing; none: it is not asked."""

    questions = serializers.ListField(
        child=serializers.DictField(),
        help_text="Each with `name`, `text`, `kind` (`scale`, `choice`, `text`), `options` (`value`, `label`), "
        "`required`; a scale may name its ends in `low` and `high`.",
    )
    version = serializers.IntegerField(allow_null=True)
    usual = serializers.ListField(child=serializers.DictField(), help_text="What is asked unless others are.")


class EntrySurveyRow(SurveyRow):
    """Questions before writing."""

    kind: ClassVar = SurveyKind.ENTRY

    def to_representation(self, instance: WritingPlan) -> dict[str, Any]:
        """Return what a plan asks."""
        survey = getattr(instance, plans.changing.SURVEY_FIELDS[self.kind])
        found = {"questions": survey.questions if survey else [], "version": survey.version if survey else None}
        return super().to_representation({**found, "usual": surveys.defaults(self.kind)})


class ExitSurveyRow(EntrySurveyRow):
    """Questions after writing."""

    kind: ClassVar = SurveyKind.EXIT


SURVEYS: dict[str, type[EntrySurveyRow]] = {"entry": EntrySurveyRow, "exit": ExitSurveyRow}


class NewSurvey(RequestBody):
    """All questions that are to be asked, in order; none: no survey."""

    questions = serializers.ListField(child=serializers.DictField(), max_length=surveys.MOST_QUESTIONS)


class StyleRow(serializers.ModelSerializer[PlanStyle]):
    """A style in the version that is asked for."""

    name = serializers.CharField(source="style.name")
    version = serializers.IntegerField(source="style.version")
    label = serializers.CharField(source="style.label")  # type: ignore[assignment] # a field, and no attribute
    instructions = serializers.CharField(source="style.instructions", help_text="In Markdown.")
    target_words = serializers.IntegerField(source="style.target_words")

    class Meta:
        model = PlanStyle
        fields = ["name", "version", "label", "instructions", "target_words"]


class ReworkedStyle(RequestBody):
    """How a style is to be worded. Who has claimed a task keeps the wording of then."""

    label = serializers.CharField(max_length=100, help_text="What writers see.")  # type: ignore[assignment]
    instructions = serializers.CharField(max_length=LONGEST, trim_whitespace=False, help_text="In Markdown.")
    target_words = serializers.IntegerField(min_value=1, max_value=5000, required=False, default=250)


class NewStyle(ReworkedStyle):
    """A style of the study's own."""

    name = serializers.CharField(
        max_length=64, help_text="In exports and commands: small letters, digits and underscores. It stays."
    )


class WriterInstructions(Endpoint):
    """What writers are told."""

    needs: ClassVar = {"GET": SEEN, "PUT": CHANGED}
    serializer_class = WriterInstructionsRow

    def get(self, request: Request, study: str) -> Response:
        """Show what writers are told, whatever the style."""
        return Response(WriterInstructionsRow(self.one(of(self))).data)

    @extend_schema(request=NewWriterInstructions, responses=WriterInstructionsRow)
    def put(self, request: Request, study: str) -> Response:
        """Change what writers are told: a new version, unless there was one of this text."""
        given = self.given(NewWriterInstructions)
        with self.unchanged(of(self), WriterInstructionsRow) as held:
            done = asked(plans.change_instructions, plan=held, now=timezone.now(), **given)
            return Response(WriterInstructionsRow(done).data)


class WriterConsent(Endpoint):
    """What writers are asked to agree to."""

    needs: ClassVar = {"GET": SEEN, "PUT": CHANGED}
    serializer_class = WriterConsentRow

    def get(self, request: Request, study: str) -> Response:
        """Show what writers are asked to agree to."""
        return Response(WriterConsentRow(self.one(of(self))).data)

    @extend_schema(request=NewWriterConsent, responses=WriterConsentRow)
    def put(self, request: Request, study: str) -> Response:
        """Change what writers are asked to agree to. Who agreed to another version is asked again."""
        given = self.given(NewWriterConsent)
        with self.unchanged(of(self), WriterConsentRow) as held:
            done = asked(plans.change_consent, plan=held, now=timezone.now(), **given)
            return Response(WriterConsentRow(done).data)


class WriterQuestions(Endpoint):
    """The questions before (`entry`) or after writing (`exit`)."""

    needs: ClassVar = {"GET": SEEN, "PUT": CHANGED}
    serializer_class = SurveyRow

    def get(self, request: Request, study: str, kind: str) -> Response:
        """Show what is asked before (`entry`) or after writing (`exit`)."""
        row = self._row(kind)
        return Response(row(self.one(of(self))).data)

    @extend_schema(request=NewSurvey, responses=SurveyRow)
    def put(self, request: Request, study: str, kind: str) -> Response:
        """Ask these questions in this order. Answers that were given stay with the questions of then."""
        row, given = self._row(kind), self.given(NewSurvey)
        with self.unchanged(of(self), row) as held:
            done = asked(plans.change_survey, plan=held, kind=row.kind, now=timezone.now(), **given)
            return Response(row(done).data)

    def _row(self, kind: str) -> type[EntrySurveyRow]:
        if kind not in SURVEYS:
            raise Problem("not-found")
        return SURVEYS[kind]


class Styles(ListEndpoint):
    """List the styles that the plan asks for, in its order."""

    needs: ClassVar = {"GET": SEEN, "POST": CHANGED}
    queryset = PlanStyle.objects.select_related("style")
    serializer_class = StyleRow
    order = ("position", "id")

    def rows(self) -> QuerySet[PlanStyle]:
        """Return the styles of the study's plan; without a plan there are none."""
        return self.get_queryset().filter(plan__study=self.study)

    @extend_schema(request=NewStyle, responses={201: StyleRow})
    def post(self, request: Request, study: str) -> Response:
        """Make a style of the study's own, and ask for it after the others. One that is there is worded anew by PUT."""
        plan, given = self.one(of(self)), self.given(NewStyle)
        if self.rows().filter(style__name=given["name"]).exists():
            raise Problem("conflict", _("The plan asks for a style of this name: PUT words it anew."))
        asked(plans.add_style, plan=plan, now=timezone.now(), **given)
        return Response(StyleRow(self.rows().get(style__name=given["name"])).data, status=201)


class OneStyle(Endpoint):
    """One style that the plan asks for."""

    needs: ClassVar = {"GET": SEEN, "PUT": CHANGED}
    serializer_class = StyleRow

    def get(self, request: Request, study: str, name: str) -> Response:
        """Show a style in the version that is asked for."""
        return Response(StyleRow(self._of(name)).data)

    @extend_schema(request=ReworkedStyle, responses=StyleRow)
    def put(self, request: Request, study: str, name: str) -> Response:
        """Word a style anew that the plan asks for."""
        given = self.given(ReworkedStyle)
        self._of(name)
        with self.unchanged(of(self), _Named.of(name)) as held:
            asked(plans.add_style, plan=held, name=name, now=timezone.now(), **given)
            return Response(StyleRow(self._of(name)).data)

    def _of(self, name: str) -> PlanStyle:
        rows = PlanStyle.objects.filter(plan__study=self.study).select_related("style")
        return self.one(rows, style__name=name)


class _Named(serializers.Serializer[WritingPlan]):
    """Shows a plan as one of its styles, which is what If-Match is held against; nothing where there is none."""

    name: ClassVar[str]

    @classmethod
    def of(cls, name: str) -> type["_Named"]:
        """Return the one for the style of this name."""
        return type("_Named", (cls,), {"name": name})

    def to_representation(self, instance: WritingPlan) -> Any:
        """Return the plan's style of this name."""
        found = instance.plan_styles.filter(style__name=self.name).select_related("style").first()
        return StyleRow(found).data if found else {}
