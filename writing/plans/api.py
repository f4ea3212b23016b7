"""Endpoints of the writing plan: terms, forecast, open and close, texts, questions, styles."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, ClassVar, TypeVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, ListEndpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.assignments.terms import limits
from crowdrag.studies.enums import Role

from ..enums import SurveyKind
from ..models import PlanStyle, Style, WritingPlan
from . import services, surveys
from .services import BadPlan

CHANGED = Need(Role.EDITOR, Scope.WRITE)
WITH = ("study", "instructions", "consent_text", "entry_survey", "exit_survey")
T = TypeVar("T")


class PlanRow(serializers.ModelSerializer[WritingPlan]):
    """The writing plan and its pay. Money is in minor units of the study's currency."""

    styles = serializers.SerializerMethodField(
        help_text="Names of the styles in order. People write one response per topic in each style."
    )
    trial_topics = serializers.SerializerMethodField(
        help_text="IDs of the trial topics, on which new writers write first."
    )

    class Meta:
        model = WritingPlan
        fields = ["is_open", "styles", "trial_topics", *WritingPlan.TERMS, "updated_at"]

    def get_styles(self, plan: WritingPlan) -> list[str]:
        """Names of the styles in order."""
        return [style.name for style in services.styles_of(plan)]

    def get_trial_topics(self, plan: WritingPlan) -> list[str]:
        """IDs of the trial topics."""
        return list(plan.plan_trial_topics.order_by("position", "id").values_list("topic__external_id", flat=True))


class ChangedPlan(RequestBody, serializers.ModelSerializer[WritingPlan]):
    """Changes of the plan. Omitted fields stay unchanged. Money is in minor units of the study's currency."""

    styles = serializers.ListField(
        child=serializers.CharField(max_length=100), required=False, max_length=1000,
        help_text="Names of the study's styles, or `bullet`, `essay`, `news`.",
    )  # fmt: skip
    trial_topics = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        max_length=services.MOST_TRIAL_TOPICS,
        help_text="IDs of the trial topics, on which new writers write first.",
    )

    class Meta:
        model = WritingPlan
        fields = ["styles", "trial_topics", *WritingPlan.TERMS]
        extra_kwargs: ClassVar = {name: {"required": False} for name in WritingPlan.TERMS}


class PlanForecastRow(serializers.Serializer[Any]):
    """The cost of a plan, without trials and top-ups. Money is in minor units of the study's currency."""

    topics = serializers.IntegerField()
    styles = serializers.IntegerField()
    slots = serializers.IntegerField()
    responses = serializers.IntegerField(help_text="Number of planned responses.")
    hours = serializers.FloatField(help_text="Total hours of writing.")
    wage = serializers.FloatField(allow_null=True, help_text="Pay per hour.")
    each = serializers.IntegerField(help_text="Cost of one response, including fee and tax.")
    total = serializers.IntegerField(help_text="Cost of all planned responses, including fee and tax.")
    problems = serializers.ListField(
        child=serializers.CharField(), help_text="Problems that must be resolved before the plan can be opened."
    )
    warnings = serializers.ListField(child=serializers.CharField(), help_text="Warnings before opening the plan.")


class Plan(Endpoint):
    """The study's writing plan."""

    needs: ClassVar = {"GET": Need(Role.EDITOR), "POST": CHANGED, "PATCH": CHANGED}
    serializer_class = PlanRow

    def get(self, request: Request, study: str) -> Response:
        """Show the writing plan and its pay. A study has at most one plan."""
        return Response(PlanRow(self.one(plan_of_study(self))).data)

    @extend_schema(request=None, responses={201: PlanRow})
    def post(self, request: Request, study: str) -> Response:
        """Create the study's plan, closed, with the default styles and texts. An existing plan stays unchanged."""
        return Response(PlanRow(services.ensure_plan(self.study, timezone.now())).data, status=201)

    @extend_schema(request=ChangedPlan, responses=PlanRow)
    def patch(self, request: Request, study: str) -> Response:
        """Change the plan and its pay. Writers who have claimed a task keep the earlier terms."""
        data = self.validated(ChangedPlan)
        with self.unchanged(plan_of_study(self), PlanRow) as held:
            styles, topics = data.pop("styles", None), data.pop("trial_topics", None)
            which: dict[str, Any] = {"style_names": styles, "trial_topics": topics, "now": timezone.now()}
            return Response(PlanRow(run_or_refuse(services.change_terms, plan=held, terms=data, **which)).data)


class PlanForecast(Endpoint):
    """The cost of a plan."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    serializer_class = PlanForecastRow

    def get(self, request: Request, study: str) -> Response:
        """Show the number of responses, hours and cost of the plan, and what prevents opening it."""
        plan = self.one(plan_of_study(self))
        costs, readiness = services.costs(plan), services.readiness(plan)
        computed = {name: getattr(costs, name) for name in ("responses", "hours", "each", "total")}
        content = {"problems": readiness.problems, "warnings": readiness.warnings, "wage": services.promised_wage(plan)}
        return Response(PlanForecastRow(asdict(costs) | computed | content).data)


class PlanOpened(Endpoint):
    """The opening of the plan."""

    needs: ClassVar = {"POST": CHANGED}

    @extend_schema(request=None, responses=PlanRow)
    def post(self, request: Request, study: str) -> Response:
        """Open the plan to writers. Idempotent: repeating the request has no further effect."""
        return Response(
            PlanRow(run_or_refuse(services.open_plan, plan=self.one(plan_of_study(self)), now=timezone.now())).data
        )


class PlanClosed(Endpoint):
    """The closing of the plan."""

    needs: ClassVar = {"POST": CHANGED}

    @extend_schema(request=None, responses=PlanRow)
    def post(self, request: Request, study: str) -> Response:
        """Close the plan to new writers. Writers who have a task can finish it, and are paid."""
        return Response(
            PlanRow(run_or_refuse(services.close_plan, plan=self.one(plan_of_study(self)), now=timezone.now())).data
        )


def plan_of_study(endpoint: Endpoint) -> QuerySet[WritingPlan]:
    """Return the study's plan with its texts, at most one row."""
    return WritingPlan.objects.filter(study=endpoint.study).select_related(*WITH)


def run_or_refuse(do: Callable[..., T], **given: Any) -> T:
    """Call a function on a plan, and convert its errors to problems."""
    try:
        return do(**given)
    except BadPlan as error:
        errors = [
            {"pointer": f"#/{field}", "detail": problem, "code": "refused"} for field, problem in error.problems.items()
        ]
        raise Problem("refused", " ".join(error.problems.values()), errors=errors) from None
    except surveys.BadSurvey as error:
        errors = [{"pointer": "#/questions", "detail": problem, "code": "refused"} for problem in error.problems]
        raise Problem("refused", str(error), errors=errors) from None
    except services.NotReady as error:
        errors = [{"detail": problem, "code": "missing"} for problem in error.problems]
        raise Problem("conflict", str(error) or "Something is missing.", errors=errors) from None


LONGEST = 50_000
TARGET_WORDS = Style._meta.get_field("target_words")
LICENCE = 100
SEEN = Need(Role.VIEWER)


class WriterInstructionsRow(serializers.Serializer[WritingPlan]):
    """The instructions for all styles."""

    text = serializers.CharField(source="instructions.text", default="", help_text="Markdown.")
    version = serializers.IntegerField(source="instructions.version", default=None, allow_null=True)


class NewWriterInstructions(RequestBody):
    """The new instructions."""

    text = serializers.CharField(max_length=LONGEST, trim_whitespace=False, help_text="Markdown.")


class WriterConsentRow(serializers.Serializer[WritingPlan]):
    """The consent text, and the licences under which texts and logs are released."""

    text = serializers.CharField(source="consent_text.text", default="", help_text="Markdown.")
    text_licence = serializers.CharField(
        source="consent_text.text_licence", default="", help_text="Licence of released responses (SPDX)."
    )
    log_licence = serializers.CharField(
        source="consent_text.log_licence",
        default="",
        help_text="Licence of released writing logs (SPDX). Empty: no logs are released.",
    )
    timing_licence = serializers.CharField(
        source="consent_text.timing_licence",
        default="",
        help_text="Licence of the times in released writing logs (SPDX). Empty: no times are released.",
    )
    version = serializers.IntegerField(source="consent_text.version", default=None, allow_null=True)


class NewWriterConsent(RequestBody):
    """The new consent text. It must say what is recorded."""

    text = serializers.CharField(max_length=LONGEST, trim_whitespace=False, help_text="Markdown.")
    text_licence = serializers.CharField(max_length=LICENCE, help_text="For example `CC-BY-4.0`.")
    log_licence = serializers.CharField(max_length=LICENCE, required=False, allow_blank=True, default="")
    timing_licence = serializers.CharField(max_length=LICENCE, required=False, allow_blank=True, default="")


class SurveyRow(serializers.Serializer[Any]):
    """The questions of a survey before or after writing. If the list is empty, there is no survey."""

    questions = serializers.ListField(
        child=serializers.DictField(),
        help_text=(
            "Each has `name`, `text`, `kind` (`scale`, `choice`, `text`), `options` (`value`, `label`) and `required`. "
            "A scale can name its ends in `low` and `high`."
        ),
    )
    version = serializers.IntegerField(allow_null=True)
    usual = serializers.ListField(child=serializers.DictField(), help_text="The default questions.")


class EntrySurveyRow(SurveyRow):
    """Questions before writing."""

    kind: ClassVar = SurveyKind.ENTRY

    def to_representation(self, instance: WritingPlan) -> dict[str, Any]:
        """Return what a plan asks."""
        survey = getattr(instance, services.SURVEY_FIELDS[self.kind])
        content = {"questions": survey.questions if survey else [], "version": survey.version if survey else None}
        return super().to_representation({**content, "usual": surveys.defaults(instance.study, self.kind)})


class ExitSurveyRow(EntrySurveyRow):
    """Questions after writing."""

    kind: ClassVar = SurveyKind.EXIT


SURVEYS: dict[str, type[EntrySurveyRow]] = {"entry": EntrySurveyRow, "exit": ExitSurveyRow}


class NewSurvey(RequestBody):
    """All questions of a survey, in order. An empty list removes the survey."""

    questions = serializers.ListField(child=serializers.DictField(), max_length=surveys.MOST_QUESTIONS)


class StyleRow(serializers.ModelSerializer[PlanStyle]):
    """A style, in the version that the plan uses."""

    name = serializers.CharField(source="style.name")
    version = serializers.IntegerField(source="style.version")
    label = serializers.CharField(source="style.label")  # type: ignore[assignment] # a field, not an attribute
    instructions = serializers.CharField(source="style.instructions", help_text="Markdown.")
    target_words = serializers.IntegerField(source="style.target_words")

    class Meta:
        model = PlanStyle
        fields = ["name", "version", "label", "instructions", "target_words"]


class ReworkedStyle(RequestBody):
    """The new wording of a style. Writers who have claimed a task keep the earlier wording."""

    label = serializers.CharField(max_length=100, help_text="The name that writers see.")  # type: ignore[assignment]
    instructions = serializers.CharField(max_length=LONGEST, trim_whitespace=False, help_text="Markdown.")
    target_words = serializers.IntegerField(**limits(TARGET_WORDS), required=False, default=250)


class NewStyle(ReworkedStyle):
    """A new style."""

    name = serializers.CharField(
        max_length=64,
        help_text="Name in exports and commands: lower-case letters, digits and underscores. It cannot be changed.",
    )


class WriterInstructions(Endpoint):
    """The instructions for writers."""

    needs: ClassVar = {"GET": SEEN, "PUT": CHANGED}
    serializer_class = WriterInstructionsRow

    def get(self, request: Request, study: str) -> Response:
        """Show the instructions for all styles."""
        return Response(WriterInstructionsRow(self.one(plan_of_study(self))).data)

    @extend_schema(request=NewWriterInstructions, responses=WriterInstructionsRow)
    def put(self, request: Request, study: str) -> Response:
        """Change the instructions. This creates a new version unless one with the same text exists."""
        data = self.validated(NewWriterInstructions)
        with self.unchanged(plan_of_study(self), WriterInstructionsRow) as held:
            done = run_or_refuse(services.change_instructions, plan=held, now=timezone.now(), **data)
            return Response(WriterInstructionsRow(done).data)


class WriterConsent(Endpoint):
    """The consent text."""

    needs: ClassVar = {"GET": SEEN, "PUT": CHANGED}
    serializer_class = WriterConsentRow

    def get(self, request: Request, study: str) -> Response:
        """Show the consent text."""
        return Response(WriterConsentRow(self.one(plan_of_study(self))).data)

    @extend_schema(request=NewWriterConsent, responses=WriterConsentRow)
    def put(self, request: Request, study: str) -> Response:
        """Change the consent text. Writers who agreed to another version are asked again."""
        data = self.validated(NewWriterConsent)
        with self.unchanged(plan_of_study(self), WriterConsentRow) as held:
            done = run_or_refuse(services.change_consent, plan=held, now=timezone.now(), **data)
            return Response(WriterConsentRow(done).data)


class WriterQuestions(Endpoint):
    """The questions before (`entry`) or after writing (`exit`)."""

    needs: ClassVar = {"GET": SEEN, "PUT": CHANGED}
    serializer_class = SurveyRow

    def get(self, request: Request, study: str, kind: str) -> Response:
        """Show the questions before (`entry`) or after writing (`exit`)."""
        row = self._row(kind)
        return Response(row(self.one(plan_of_study(self))).data)

    @extend_schema(request=NewSurvey, responses=SurveyRow)
    def put(self, request: Request, study: str, kind: str) -> Response:
        """Replace the questions. Earlier answers stay with the earlier questions."""
        row, data = self._row(kind), self.validated(NewSurvey)
        with self.unchanged(plan_of_study(self), row) as held:
            done = run_or_refuse(services.change_survey, plan=held, kind=row.kind, now=timezone.now(), **data)
            return Response(row(done).data)

    def _row(self, kind: str) -> type[EntrySurveyRow]:
        if kind not in SURVEYS:
            raise Problem("not-found")
        return SURVEYS[kind]


class Styles(ListEndpoint):
    """List the styles of the plan, in order."""

    needs: ClassVar = {"GET": SEEN, "POST": CHANGED}
    queryset = PlanStyle.objects.select_related("style")
    serializer_class = StyleRow
    order = ("position", "id")

    def rows(self) -> QuerySet[PlanStyle]:
        """Return the styles of the study's plan; without a plan there are none."""
        return self.get_queryset().filter(plan__study=self.study)

    @extend_schema(request=NewStyle, responses={201: StyleRow})
    def post(self, request: Request, study: str) -> Response:
        """Create a style and add it to the end of the plan. To change an existing style, use PUT."""
        plan, data = self.one(plan_of_study(self)), self.validated(NewStyle)
        if self.rows().filter(style__name=data["name"]).exists():
            raise Problem("conflict", "The plan already has a style with this name. Use PUT to change it.")
        run_or_refuse(services.add_style, plan=plan, now=timezone.now(), **data)
        return Response(StyleRow(self.rows().get(style__name=data["name"])).data, status=201)


class OneStyle(Endpoint):
    """A style of the plan."""

    needs: ClassVar = {"GET": SEEN, "PUT": CHANGED}
    serializer_class = StyleRow

    def get(self, request: Request, study: str, name: str) -> Response:
        """Show a style, in the version that the plan uses."""
        return Response(StyleRow(self._of(name)).data)

    @extend_schema(request=ReworkedStyle, responses=StyleRow)
    def put(self, request: Request, study: str, name: str) -> Response:
        """Change the wording of a style of the plan."""
        data = self.validated(ReworkedStyle)
        self._of(name)
        with self.unchanged(plan_of_study(self), _Named.of(name)) as held:
            run_or_refuse(services.add_style, plan=held, name=name, now=timezone.now(), **data)
            return Response(StyleRow(self._of(name)).data)

    def _of(self, name: str) -> PlanStyle:
        rows = PlanStyle.objects.filter(plan__study=self.study).select_related("style")
        return self.one(rows, style__name=name)


class _Named(serializers.Serializer[WritingPlan]):
    """A serializer of one style of a plan, for the comparison with If-Match; empty if the plan lacks the style."""

    name: ClassVar[str]

    @classmethod
    def of(cls, name: str) -> type["_Named"]:
        """Return the serializer class for the style with this name."""
        return type("_Named", (cls,), {"name": name})

    def to_representation(self, instance: WritingPlan) -> Any:
        """Return the plan's style with this name."""
        plan_style = instance.plan_styles.filter(style__name=self.name).select_related("style").first()
        return StyleRow(plan_style).data if plan_style else {}
