"""Payments and times of writers and judges, from which hourly rates are computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import ExpressionWrapper, F, IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.campaign_types.registry import of_pairs
from annotation.models import Assignment, AssignmentPayment
from crowdrag.studies.models import Study
from writing.models import TaskPayment, WritingTask

from . import arrays

QUESTIONNAIRE = -1


def load(study: Study, pool: str, responses: Sequence[arrays.Response]) -> tuple[arrays.Wage, ...]:
    """Read the pay of the included responses, and of the included pairwise questionnaires of a pool."""
    response_index = {response.name: i for i, response in enumerate(responses)}
    tasks = WritingTask.objects.filter(study=study, response__is_included=True)
    written = _paid(tasks, TaskPayment, "task").values_list(
        "response__external_id", "paid", _charges("study__writing_plan"), "active_seconds"
    )
    wages = [
        arrays.Wage(response_index[name], pay, charges, seconds)
        for name, pay, charges, seconds in written
        if name in response_index and pay
    ]
    judged = Assignment.objects.counted().filter(
        questionnaire__campaign__study=study, questionnaire__campaign__judges=pool
    )
    judged = judged.filter(of_pairs("questionnaire__campaign__"))
    answered = _paid(judged, AssignmentPayment, "assignment").values_list(
        "paid", _charges("questionnaire__campaign"), "seconds"
    )
    wages += [arrays.Wage(QUESTIONNAIRE, pay, charges, seconds) for pay, charges, seconds in answered if pay]
    return tuple(sorted(wages, key=_order))


def _paid(rows: QuerySet[Any], payments: type[Any], key: str) -> QuerySet[Any]:
    """Annotate each row with its payment, or with the promised pay if it is not paid yet."""
    booked = payments.objects.filter(**{key: OuterRef("pk")}).order_by().values(key).annotate(sum=Sum("amount"))
    number = IntegerField()
    paid: QuerySet[Any] = rows.annotate(paid=Coalesce(Subquery(booked.values("sum")), F("pay"), output_field=number))
    return paid


def _charges(where: str) -> ExpressionWrapper[Any]:
    """Return the expression of the platform's fee plus tax for one item; None if one of them is unknown."""
    return ExpressionWrapper(F(f"{where}__fee") + F(f"{where}__tax"), output_field=IntegerField())


def _order(wage: arrays.Wage) -> tuple[int, int, int, float]:
    """Sort by content because row IDs differ between databases."""
    return wage.response, wage.pay, wage.charges or 0, wage.seconds or 0.0
