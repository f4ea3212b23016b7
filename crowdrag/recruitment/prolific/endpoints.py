"""The platform's endpoints, one function each. Paths and fields follow docs.prolific.com/api-reference."""

from collections.abc import Iterator
from typing import Any

from .client import Client
from .errors import PlatformError, unreadable_answer

# Events used here; the platform has more.
SUBMISSION_CHANGED = "submission.status.change"
STUDY_CHANGED = "study.status.change"
EVENTS = (SUBMISSION_CHANGED, STUDY_CHANGED)


def me(client: Client) -> dict[str, Any]:
    """Return the owner of the token: works with any valid token."""
    return _object(client.get("users/me/"))


def balance(client: Client, workspace: str) -> dict[str, Any]:
    """Return the workspace's balance in minor units: `currency_code`, `available_balance`."""
    return _object(client.get(f"workspaces/{workspace}/balance/"))


def cost(client: Client, *, reward: int, places: int) -> int:
    """Return the total cost of this many places, with fees and tax, in minor units of the account's currency."""
    body = {"reward": reward, "total_available_places": places}
    answer = _object(client.put("POST", "study-cost-calculator/", body))
    return round(float(answer["total_cost"]))


def filters(client: Client) -> list[dict[str, Any]]:
    """Return all filters of participants, with their possible values."""
    answer = _object(client.get("filters/"))
    return [row for row in answer.get("results", []) if isinstance(row, dict)]


def create_study(client: Client, body: dict[str, Any]) -> dict[str, Any]:
    """Create a draft. Sent once: a second request would create a second study."""
    return _object(client.once("studies/", body))


def study(client: Client, external_id: str) -> dict[str, Any]:
    """Return the current state of a study."""
    return _object(client.get(f"studies/{external_id}/"))


def drafts(client: Client) -> list[dict[str, Any]]:
    """Return studies that were never published, to find one whose creation got no response."""
    answer = _object(client.get("studies/", state="UNPUBLISHED"))
    return [row for row in answer.get("results", []) if isinstance(row, dict)]


def update_study(client: Client, external_id: str, body: dict[str, Any]) -> dict[str, Any]:
    """Change a study: after publication, only its internal name, and more places."""
    return _object(client.put("PATCH", f"studies/{external_id}/", body))


def transition_study(client: Client, external_id: str, action: str) -> dict[str, Any]:
    """PUBLISH, PAUSE, START or STOP a study. Sent once; the caller checks the study if there is no response."""
    return _object(client.once(f"studies/{external_id}/transition/", {"action": action}))


def submissions(client: Client, external_id: str) -> Iterator[dict[str, Any]]:
    """Iterate over all submissions of a study."""
    return client.pages(f"studies/{external_id}/submissions/")


def counts(client: Client, external_id: str) -> dict[str, Any]:
    """Return the number of a study's submissions in each status."""
    return _object(client.get(f"studies/{external_id}/submissions/counts/"))


def submission(client: Client, external_id: str) -> dict[str, Any]:
    """Return a submission with its bonuses."""
    return _object(client.get(f"submissions/{external_id}/"))


def transition_submission(client: Client, external_id: str, body: dict[str, Any]) -> dict[str, Any]:
    """APPROVE, REJECT or COMPLETE a submission: documented to be idempotent."""
    return _object(client.put("POST", f"submissions/{external_id}/transition/", body))


def set_up_bonus(client: Client, *, study_id: str, submission_id: str, amount: str) -> str:
    """Set up a bonus and return its id. Nothing is paid yet; `amount` is in major units, as in "4.25"."""
    body = {"study_id": study_id, "csv_bonuses": f"{submission_id},{amount}"}
    return str(_object(client.once("submissions/bonus-payments/", body))["id"])


def pay_bonus(client: Client, bonus: str) -> None:
    """Pay a bonus that was set up. **Not idempotent**: sent twice, paid twice (docs: bonuses/pay-bonus-payments)."""
    client.once(f"bulk-bonus-payments/{bonus}/pay/", {})


def subscriptions(client: Client) -> list[dict[str, Any]]:
    """Return the events to which we are subscribed."""
    answer = _object(client.get("hooks/subscriptions/"))
    return [row for row in answer.get("results", []) if isinstance(row, dict)]


def subscribe(client: Client, *, event: str, target: str, workspace: str) -> str:
    """Subscribe to an event, and confirm it with the secret in the response's header."""
    body = {"event_type": event, "target_url": target, "workspace_id": workspace}
    answer = client.answer("POST", "hooks/subscriptions/", body)
    subscription = answer.json if isinstance(answer.json, dict) else {}
    rows = [subscription, *(row for row in subscription.get("results", []) if isinstance(row, dict))]
    key = next((str(row["id"]) for row in rows if row.get("id")), "")
    secret = answer.headers.get("x-hook-secret", "")
    if not key or not secret:
        raise PlatformError(unreadable_answer())
    client.put("POST", f"hooks/subscriptions/{key}/", {"secret": secret})
    return key


def _object(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise PlatformError(unreadable_answer())
    return answer
