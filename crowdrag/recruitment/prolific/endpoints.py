"""The platform's endpoints, one function each. Paths and fields as docs.prolific.com/api-reference has them."""

from collections.abc import Iterator
from typing import Any

from .client import Client
from .errors import PlatformError, unreadable_answer

# Events that are of use here; the platform has more.
SUBMISSION_CHANGED = "submission.status.change"
STUDY_CHANGED = "study.status.change"
EVENTS = (SUBMISSION_CHANGED, STUDY_CHANGED)


def me(client: Client) -> dict[str, Any]:
    """Whose token this is: works with any token that works at all."""
    return _object(client.get("users/me/"))


def balance(client: Client, workspace: str) -> dict[str, Any]:
    """Money of the workspace in minor units: `currency_code`, `available_balance`."""
    return _object(client.get(f"workspaces/{workspace}/balance/"))


def cost(client: Client, *, reward: int, places: int) -> int:
    """What so many places cost in all, with fees and tax, in minor units of the account's currency."""
    body = {"reward": reward, "total_available_places": places}
    answer = _object(client.put("POST", "study-cost-calculator/", body))
    return round(float(answer["total_cost"]))


def filters(client: Client) -> list[dict[str, Any]]:
    """All filters of people that there are, with the values that each takes."""
    answer = _object(client.get("filters/"))
    return [row for row in answer.get("results", []) if isinstance(row, dict)]


def create_study(client: Client, body: dict[str, Any]) -> dict[str, Any]:
    """Make a draft. Sent once: a second one would be a second study."""
    return _object(client.once("studies/", body))


def study(client: Client, external_id: str) -> dict[str, Any]:
    """One study as it stands."""
    return _object(client.get(f"studies/{external_id}/"))


def drafts(client: Client) -> list[dict[str, Any]]:
    """Studies that were never published, to find one again whose making was not answered."""
    answer = _object(client.get("studies/", state="UNPUBLISHED"))
    return [row for row in answer.get("results", []) if isinstance(row, dict)]


def update_study(client: Client, external_id: str, body: dict[str, Any]) -> dict[str, Any]:
    """Change a study: after it is published, its internal name and more places only."""
    return _object(client.put("PATCH", f"studies/{external_id}/", body))


def transition_study(client: Client, external_id: str, action: str) -> dict[str, Any]:
    """PUBLISH, PAUSE, START or STOP a study. Sent once; the caller looks at the study where no answer came."""
    return _object(client.once(f"studies/{external_id}/transition/", {"action": action}))


def submissions(client: Client, external_id: str) -> Iterator[dict[str, Any]]:
    """Go through all submissions of a study."""
    return client.pages(f"studies/{external_id}/submissions/")


def counts(client: Client, external_id: str) -> dict[str, Any]:
    """How many submissions a study has in each status."""
    return _object(client.get(f"studies/{external_id}/submissions/counts/"))


def submission(client: Client, external_id: str) -> dict[str, Any]:
    """One submission with its bonuses."""
    return _object(client.get(f"submissions/{external_id}/"))


def transition_submission(client: Client, external_id: str, body: dict[str, Any]) -> dict[str, Any]:
    """APPROVE, REJECT or COMPLETE a submission: documented to be idempotent."""
    return _object(client.put("POST", f"submissions/{external_id}/transition/", body))


def set_up_bonus(client: Client, *, study_id: str, submission_id: str, amount: str) -> str:
    """Set up a bonus and return its id. Nothing is paid yet; `amount` is in major units, as in "4.25"."""
    body = {"study_id": study_id, "csv_bonuses": f"{submission_id},{amount}"}
    return str(_object(client.once("submissions/bonus-payments/", body))["id"])


def pay_bonus(client: Client, bonus: str) -> None:
    """Pay what was set up. **Not idempotent**: sent again, it is paid again (docs: bonuses/pay-bonus-payments)."""
    client.once(f"bulk-bonus-payments/{bonus}/pay/", {})


def subscriptions(client: Client) -> list[dict[str, Any]]:
    """Which events we are told of."""
    answer = _object(client.get("hooks/subscriptions/"))
    return [row for row in answer.get("results", []) if isinstance(row, dict)]


def subscribe(client: Client, *, event: str, target: str, workspace: str) -> str:
    """Ask to be told of an event, and confirm it with the secret that comes in the answer's header."""
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
