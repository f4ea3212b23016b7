"""How a study has its responses written by people: what is asked for and paid, forecast, opening and closing."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, ClassVar, TypeVar

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint, Need
from crowdrag.api.problems import Problem
from crowdrag.api.serializers import RequestBody
from crowdrag.studies.enums import Role

from ..domain import plans, surveys
from ..domain.plans import changing
from ..forms.plan import MOST
from ..models import WritingPlan

CHANGED = Need(Role.EDITOR, Scope.WRITE)
WITH = ("study", "instructions", "consent_text", "entry_survey", "exit_survey")
T = TypeVar("T")


class PlanRow(serializers.ModelSerializer[WritingPlan]):
    """What is asked for and what it pays. Money is in minor units of the study's currency."""

    styles = serializers.SerializerMethodField(help_text="Names, in order: people write in each on each topic.")
    trial_topics = serializers.SerializerMethodField(help_text="Ids: new writers write on these first.")

    class Meta:
        model = WritingPlan
        fields = ["is_open", "styles", "slots", "tasks_per_person", "minutes", "lease_hours", "trial_topics", "pay",
                  "fee", "tax", "wage_floor", "updated_at"]  # fmt: skip
        extra_kwargs = {
            "slots": {"help_text": "Responses per topic and style, by as many different people."},
            "tasks_per_person": {"help_text": "At most; null: as many as there are."},
            "minutes": {"help_text": "That a response takes, as people are told."},
            "lease_hours": {"help_text": "Until an untouched task goes to somebody else."},
            "pay": {"help_text": "Per response."},
            "fee": {"help_text": "Of the platform, per response."},
            "tax": {"help_text": "Per response."},
            "wage_floor": {"help_text": "The least wage per hour; null: nobody is told who earns less."},
        }

    def get_styles(self, plan: WritingPlan) -> list[str]:
        """Return the names of the styles that are asked for."""
        return list(plan.plan_styles.order_by("position", "id").values_list("style__name", flat=True))

    def get_trial_topics(self, plan: WritingPlan) -> list[str]:
        """Return the ids of the topics on which new writers are tried."""
        return list(plan.plan_trial_topics.order_by("position", "id").values_list("topic__external_id", flat=True))


class ChangedPlan(RequestBody):
    """What is to be asked for otherwise; what is left out stays."""

    styles = serializers.ListField(
        child=serializers.CharField(max_length=100), required=False, max_length=1000,
        help_text="Names of the study's styles, or `bullet`, `essay`, `news`.",
    )  # fmt: skip
    slots = serializers.IntegerField(min_value=1, max_value=1000, required=False)
    tasks_per_person = serializers.IntegerField(min_value=1, max_value=30_000, required=False, allow_null=True)
    minutes = serializers.IntegerField(min_value=1, max_value=600, required=False)
    lease_hours = serializers.IntegerField(min_value=1, max_value=2000, required=False)
    trial_topics = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, max_length=changing.MOST_TRIAL_TOPICS
    )
    pay = serializers.IntegerField(min_value=0, max_value=MOST, required=False)
    fee = serializers.IntegerField(min_value=0, max_value=MOST, required=False)
    tax = serializers.IntegerField(min_value=0, max_value=MOST, required=False)
    wage_floor = serializers.IntegerField(min_value=0, max_value=MOST, required=False, allow_null=True)


class PlanForecastRow(serializers.Serializer[Any]):
    """What a plan comes to, trials and top-ups apart. Money is in minor units of the study's currency."""

    topics = serializers.IntegerField()
    styles = serializers.IntegerField()
    slots = serializers.IntegerField()
    responses = serializers.IntegerField(help_text="All that are asked for.")
    hours = serializers.FloatField(help_text="Of all people together.")
    wage = serializers.FloatField(allow_null=True, help_text="Per hour.")
    each = serializers.IntegerField(help_text="What one response costs, with fee and tax.")
    total = serializers.IntegerField(help_text="What all of them cost.")
    problems = serializers.ListField(child=serializers.CharField(), help_text="What keeps it from being opened.")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="What to know before it is opened.")


class Plan(Endpoint):
    """The study's writing plan."""

    needs: ClassVar = {"GET": Need(Role.EDITOR), "POST": CHANGED, "PATCH": CHANGED}
    serializer_class = PlanRow

    def get(self, request: Request, study: str) -> Response:
        """Show what is asked for and what it pays. A study has one plan, or none yet."""
        return Response(PlanRow(self.one(of(self))).data)

    @extend_schema(request=None, responses={201: PlanRow})
    def post(self, request: Request, study: str) -> Response:
        """Make the study's plan, which is closed: the usual styles, texts and questions. One that there is stays."""
        return Response(PlanRow(plans.ensure(self.study, timezone.now())).data, status=201)

    @extend_schema(request=ChangedPlan, responses=PlanRow)
    def patch(self, request: Request, study: str) -> Response:
        """Change what is asked for and what it pays. Who has claimed a task keeps what was said then."""
        given = self.given(ChangedPlan)
        with self.unchanged(of(self), PlanRow) as held:
            wanted = {**PlanRow(held).data, **given}
            terms = plans.Terms(**{name: wanted[name] for name in plans.Terms.__dataclass_fields__})
            styles, topics = wanted["styles"], wanted["trial_topics"]
            who: dict[str, Any] = {"style_names": styles, "trial_topics": topics, "now": timezone.now()}
            return Response(PlanRow(asked(plans.change, plan=held, terms=terms, **who)).data)


class PlanForecast(Endpoint):
    """What a plan comes to."""

    needs: ClassVar = {"GET": Need(Role.EDITOR)}
    serializer_class = PlanForecastRow

    def get(self, request: Request, study: str) -> Response:
        """Show responses, hours and money that the plan comes to, and what it lacks."""
        plan = self.one(of(self))
        costs, readiness = plans.costs(plan), plans.readiness(plan)
        computed = {name: getattr(costs, name) for name in ("responses", "hours", "each", "total")}
        said = {"problems": readiness.problems, "warnings": readiness.warnings, "wage": plans.promised_wage(plan)}
        return Response(PlanForecastRow(asdict(costs) | computed | said).data)


class PlanOpened(Endpoint):
    """A plan that is open to writers."""

    needs: ClassVar = {"POST": CHANGED}

    @extend_schema(request=None, responses=PlanRow)
    def post(self, request: Request, study: str) -> Response:
        """Let people write: they come by links or from a platform. Twice is once."""
        return Response(PlanRow(asked(plans.open, plan=self.one(of(self)), now=timezone.now())).data)


class PlanClosed(Endpoint):
    """A plan that is closed."""

    needs: ClassVar = {"POST": CHANGED}

    @extend_schema(request=None, responses=PlanRow)
    def post(self, request: Request, study: str) -> Response:
        """Let nobody begin any more. Who has a task can finish it, and is paid."""
        return Response(PlanRow(asked(plans.close, plan=self.one(of(self)), now=timezone.now())).data)


def of(endpoint: Endpoint) -> QuerySet[WritingPlan]:
    """Return the plan of the study that the address names, with its texts; there is one at most."""
    return WritingPlan.objects.filter(study=endpoint.study).select_related(*WITH)


def asked(do: Callable[..., T], **given: Any) -> T:
    """Have something done with a plan, or say what is wrong with it."""
    try:
        return do(**given)
    except plans.BadPlan as error:
        said = [
            {"pointer": f"#/{field}", "detail": problem, "code": "refused"} for field, problem in error.problems.items()
        ]
        raise Problem("refused", " ".join(error.problems.values()), errors=said) from None
    except surveys.BadSurvey as error:
        said = [{"pointer": "#/questions", "detail": problem, "code": "refused"} for problem in error.problems]
        raise Problem("refused", str(error), errors=said) from None
    except plans.NotReady as error:
        said = [{"detail": problem, "code": "missing"} for problem in error.problems]
        raise Problem("conflict", str(error) or _("It lacks something."), errors=said) from None
