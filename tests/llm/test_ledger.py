"""The ledger equals the attempts, and no budget is passed, however many ask at once."""

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.utils import timezone

from crowdrag.llm import gateway, ledger
from crowdrag.llm.enums import AttemptState, Fault
from crowdrag.llm.models import Attempt, Call, StudySpend
from crowdrag.studies.models import Study
from tests.concurrency import together

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
def test_twenty_threads_cannot_pass_a_budget_by_a_single_hold(study, paid):
    """Room for exactly seven of twenty."""
    Study.objects.update(llm_budget=7)
    ledger.admit(study=study, endpoint=paid)
    granted = together([lambda: ledger.hold(study=study, amount=Decimal(1))] * 20)
    assert granted.count(True) == 7
    assert granted.count(False) == 13
    assert StudySpend.objects.get().total == 7


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_askers_at_once_stop_before_the_budget_is_passed(study, paid, ask, server):
    Study.objects.update(llm_budget=1)  # 50 answers of 0.02 minor units; about 0.2 is held for each beforehand

    def asking(index):
        try:
            return ask(*[f"ok {index} {n}" for n in range(15)])
        except gateway.BudgetExceededError:
            return "budget exceeded"

    outcomes = together([partial(asking, index) for index in range(6)])
    assert "budget exceeded" in outcomes
    booked, counter = ledger.audit(study=study)
    assert booked == counter
    assert booked.held == 0
    assert booked.settled <= 1
    assert booked.settled == Decimal(str(server.bill(1000, 2000)))
    # It is used up, too: what was held for calls in flight came back to the others.
    assert booked.settled > Decimal("0.75")


def test_a_budget_that_is_used_up_can_be_raised_and_the_rest_asked(study, paid, ask, server):
    Study.objects.update(llm_budget=0)
    with pytest.raises(gateway.BudgetExceededError):
        ask("ok:1", "ok:2")
    assert server.seen == []
    assert not Call.objects.filter(claimed_by__isnull=False).exists()
    Study.objects.update(llm_budget=100)
    assert [answer.text for answer in ask("ok:1", "ok:2")] == ["1", "2"]


@pytest.mark.parametrize("change", [{"llm_budget": None}, {"currency": "EUR"}], ids=["none", "another currency"])
def test_without_a_budget_in_its_currency_nothing_paid_is_asked(study, paid, ask, server, change):
    Study.objects.update(**change)
    with pytest.raises(gateway.BudgetError) as refused:
        ask("ok")
    assert not isinstance(refused.value, gateway.BudgetExceededError)
    assert server.seen == []


def test_what_is_free_needs_no_budget_and_touches_no_row_of_money(study, ask):
    Study.objects.update(llm_budget=None)
    assert ask("ok")[0].text == "yes"
    assert not StudySpend.objects.exists()
    assert Attempt.objects.get().cost == 0


def test_answers_from_the_store_need_no_budget_and_are_free_for_other_studies(study, paid, ask):
    ask("ok")
    Study.objects.update(llm_budget=None)
    assert ask("ok")[0].cached
    other = Study.objects.create(slug="other", title="O", created_at=study.created_at)
    assert ask("ok", study=other)[0].cached
    assert ledger.audit(study=other)[0] == ledger.Totals(0, 0)


def test_unknown_outcomes_stay_charged_until_the_bill_settles_them(study, paid, ask):
    ask("cut,ok", "drop,ok")
    unknown = Attempt.objects.unsettled()
    bound = sum(attempt.bound for attempt in unknown)
    booked, counter = ledger.audit(study=study)
    assert booked == counter
    assert booked.held == bound > 0
    Study.objects.update(llm_budget=int(bound))
    with pytest.raises(gateway.BudgetExceededError):  # told at once, not waited for
        ask("ok")
    [first, second] = unknown.order_by("id")
    assert ledger.settle_unknown(attempts=[first]) == 1
    assert ledger.settle_unknown(attempts=[second], cost=Decimal("0.01")) == 1
    assert ledger.settle_unknown(attempts=[first, second]) == 0
    booked, counter = ledger.audit(study=study)
    assert booked == counter == ledger.Totals(held=0, settled=Decimal("0.05"))


def test_lost_attempts_are_marked_and_keep_their_price(study, paid, endpoint):
    now = timezone.now()
    call = Call.objects.create(
        digest="0" * 64, endpoint=paid, model="m", purpose="t", study=study, request={}, created_at=now, fence=2,
        claimed_by="00000000-0000-0000-0000-000000000001", claimed_until=now + timedelta(seconds=9),
    )  # fmt: skip

    def intend(number, fence):
        return Attempt.objects.create(
            call=call, study=study, endpoint=paid, number=number, fence=fence, bound=3, cost=3, currency="USD",
            started_at=now,
        )  # fmt: skip

    overtaken, current = intend(1, 1), intend(2, 2)
    assert ledger.give_up_lost(now=now) == 1
    overtaken.refresh_from_db()
    assert (overtaken.state, overtaken.fault, overtaken.cost) == (AttemptState.UNKNOWN, Fault.LOST, 3)
    assert ledger.give_up_lost(now=now + timedelta(seconds=10)) == 1
    current.refresh_from_db()
    assert current.state == AttemptState.UNKNOWN
