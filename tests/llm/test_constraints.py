"""What must be true of endpoints, calls and attempts is true in the database, whoever writes."""

from decimal import Decimal

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from crowdrag.llm.models import Attempt, Call, Endpoint, StudySpend
from tests.analysis.cases import check_each

pytestmark = pytest.mark.django_db
NOW = timezone.now()
CLAIMED = {"claimed_by": "00000000-0000-0000-0000-000000000001", "claimed_until": NOW}


@pytest.fixture
def new_call(endpoint, study):
    return {
        "digest": "a" * 64, "endpoint": endpoint, "model": "m", "purpose": "t", "study": study, "request": {},
        "created_at": NOW,
    }  # fmt: skip


@pytest.fixture
def new_attempt(new_call, study, endpoint):
    return {
        "call": Call.objects.create(**new_call), "study": study, "endpoint": endpoint, "number": 1, "fence": 1,
        "bound": 3, "cost": 3, "currency": "USD", "started_at": NOW,
    }  # fmt: skip


def breaks(constraint, action):
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        action()


def check_updates(model, cases):
    check_each(cases, lambda constraint, fields: breaks(constraint, lambda: model.objects.update(**fields)))


def test_endpoints(endpoint):
    check_updates(
        Endpoint,
        [
            ("endpoint_name_not_empty", {"name": ""}),
            ("endpoint_model_not_empty", {"model": ""}),
            ("endpoint_base_url_is_http", {"base_url": "ftp://x"}),
            ("endpoint_remote_uses_tls", {"is_local": False}),
            ("endpoint_key_variable_has_prefix", {"key_variable": "SECRET_KEY", "key_host": "h"}),
            ("endpoint_key_bound_to_a_host", {"key_variable": "CROWDRAG_LLM_KEY_A"}),
            ("endpoint_prices_not_negative", {"input_price": -1}),
            ("endpoint_currency_is_a_code", {"currency": "usd"}),
            ("endpoint_concurrency_in_range", {"concurrency": 0}),
            ("endpoint_timeout_in_range", {"timeout": 0}),
            ("endpoint_max_tokens_positive", {"max_tokens": 0}),
            ("endpoint_token_parameter_known", {"token_parameter": "tokens"}),
        ],
    )
    breaks("llm_endpoint_name", lambda: Endpoint.objects.create(name="odd", base_url="https://x", model="m"))


def test_calls(new_call):
    Call.objects.create(**new_call)
    check_updates(
        Call,
        [
            ("call_digest_is_sha256", {"digest": "A" * 64}),
            ("call_state_known", {"state": "LOST"}),
            ("call_fault_known", {"state": "FAILED", "fault": "SAD"}),
            ("call_failed_has_a_fault", {"state": "FAILED"}),
            ("call_failed_has_a_fault", {"fault": "BUSY"}),
            ("call_answered_has_its_figures", {"state": "ANSWERED"}),
            ("call_claim_and_lease_go_together", {"claimed_until": NOW}),
            ("call_erased_has_no_texts", {"request": None}),
            ("call_erased_has_no_texts", {"erased_at": NOW}),
            ("call_erased_has_no_texts", {"erased_at": NOW, "request": None, "text": "x"}),
            ("call_cost_not_negative", {"cost": -1}),
            ("call_claimed_only_while_open", {"state": "FAILED", "fault": "BUSY", **CLAIMED}),
        ],
    )
    breaks("call_digest_once", lambda: Call.objects.create(**new_call | {"study": None}))


def test_attempts(new_attempt):
    Attempt.objects.create(**new_attempt)
    check_updates(
        Attempt,
        [
            ("attempt_fault_known", {"fault": "SAD"}),
            ("attempt_number_positive", {"number": 0}),
            ("attempt_cost_not_negative", {"state": "ANSWERED", "ended_at": NOW, "cost": -1}),
            ("attempt_unknown_costs_its_bound", {"cost": 1}),
            ("attempt_ended_unless_on_its_way", {"ended_at": NOW}),
            ("attempt_ended_unless_on_its_way", {"state": "ANSWERED", "cost": 1}),
            ("attempt_failed_has_a_fault", {"state": "UNKNOWN", "ended_at": NOW}),
            ("attempt_currency_is_a_code", {"currency": "$$$"}),
        ],
    )
    breaks("attempt_number_unique_per_call", lambda: Attempt.objects.create(**new_attempt))
    gone = {"number": 2, "state": "GONE", "ended_at": NOW}
    breaks("attempt_state_known", lambda: Attempt.objects.create(**new_attempt | gone))


def test_what_is_settled_stays(new_attempt):
    Attempt.objects.create(**new_attempt)
    Attempt.objects.update(state="UNKNOWN", fault="CUT", ended_at=NOW)
    Attempt.objects.update(state="ANSWERED", fault="", cost=Decimal(1))
    for change in ({"state": "INTENDED"}, {"state": "UNKNOWN"}, {"state": "FAILED"}, {"cost": 2}, {"bound": 9}):
        with pytest.raises(DatabaseError, match="pgtrigger"), transaction.atomic():
            Attempt.objects.update(**change)


def test_spend_is_never_negative(study):
    StudySpend.objects.create(study=study)
    check_updates(StudySpend, [("spend_not_negative", {"held": -1}), ("spend_not_negative", {"settled": -1})])
    breaks("llm_studyspend_study_id", lambda: StudySpend.objects.create(study=study))
