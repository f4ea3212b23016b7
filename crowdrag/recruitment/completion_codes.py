"""Completion codes: how the platform learns how a visit ended (docs.prolific.com, the study object, completion_codes).

Participants carry the code back in the URL that leads them to the platform. A code whose actor is the researcher is
never shown to anybody: we send it to the platform ourselves.
"""

import secrets
from typing import Any, Final
from urllib.parse import urlencode

from crowdrag.studies.entry import links
from crowdrag.studies.enums import Outcome

COMPLETED: Final = "COMPLETED"
NO_CONSENT: Final = "NO_CONSENT"
FAILED_CHECKS: Final = "FAILED_ATTENTION_CHECK"
BAD_DEVICE: Final = "INCOMPATIBLE_DEVICE"
SCREENED_OUT: Final = "FIXED_SCREENOUT"
# Two outcomes that the platform has no name for; codes of the type OTHER.
NO_WORK: Final = "NO_WORK"
WITHDRAWN: Final = "WITHDRAWN"

RETURN_TO: Final = "https://app.prolific.com/submissions/complete"
BY_OUTCOME: Final = {
    Outcome.COMPLETED: COMPLETED,
    Outcome.NO_CONSENT: NO_CONSENT,
    Outcome.NO_WORK: NO_WORK,
    Outcome.WITHDRAWN: WITHDRAWN,
    Outcome.BAD_DEVICE: BAD_DEVICE,
}
# Nobody is paid without a decision by a person. Participants who did not consent or found no work are asked to return
# the place, which costs them nothing and frees it.
_RETURN_REASONS: Final = {
    NO_CONSENT: "You did not agree to take part.",
    BAD_DEVICE: "Your device cannot be used for this study.",
}
_ALPHABET: Final = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
_LENGTH: Final = 8


def draw_codes(*, screens_out: bool) -> dict[str, str]:
    """Generate a random code for each outcome of a visit, so that none reveals another."""
    kinds = [COMPLETED, NO_CONSENT, NO_WORK, WITHDRAWN, FAILED_CHECKS, BAD_DEVICE]
    drawn: dict[str, str] = {}
    for kind in kinds + [SCREENED_OUT] * screens_out:
        code = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
        while code in drawn.values():
            code = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
        drawn[kind] = code
    return drawn


def completion_urls(codes: dict[str, str]) -> dict[str, str]:
    """Return the completion URLs by outcome."""
    return {outcome: completion_url(codes[kind]) for outcome, kind in BY_OUTCOME.items()}


def completion_url(code: str) -> str:
    """Return the URL that carries a code back to the platform."""
    return f"{RETURN_TO}?{urlencode({links.COMPLETION_CODE: code})}"


def platform_codes(codes: dict[str, str], *, screen_out_reward: int | None, places: int) -> list[dict[str, Any]]:
    """Return the codes in the platform's format."""
    return [_platform_code(kind, code, screen_out_reward, places) for kind, code in codes.items()]


def _platform_code(kind: str, code: str, reward: int | None, places: int) -> dict[str, Any]:
    actions: list[dict[str, Any]] = [{"action": "MANUALLY_REVIEW"}]
    actor = "participant"
    if kind in _RETURN_REASONS:
        actions = [{"action": "REQUEST_RETURN", "return_reason": _RETURN_REASONS[kind]}]
    elif kind == SCREENED_OUT:
        actions = [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": reward, "slots": places}]
        actor = "researcher"
    code_type = "OTHER" if kind in {NO_WORK, WITHDRAWN} else kind
    return {"code": code, "code_type": code_type, "actions": actions, "actor": actor}
