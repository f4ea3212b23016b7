"""Errors of the platform. Each kind says what is known of the outcome."""


class PlatformError(Exception):
    """The platform did not do what it was asked; the message says why."""


class NotConfiguredError(PlatformError):
    """The operator has not set up the platform, or not for this study."""


class UnreachableError(PlatformError):
    """No connection: nothing was sent."""


class OutcomeUnknownError(PlatformError):
    """It was sent and the answer is missing or says nothing: it may have been done or not."""


class BusyError(PlatformError):
    """The platform asks to come back later; nothing was done."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class TokenError(PlatformError):
    """The token is wrong, or does not reach this."""


class RefusedError(PlatformError):
    """The platform refuses this request as it is; sending it again helps nothing."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class MissingError(RefusedError):
    """The platform does not know what was named."""


def error_message(body: object) -> str:
    """Return what an error's body says, as a sentence or two.

    The documented shape is `{"error": {"title", "detail", "additional_information"}}`, where the detail is a text or
    texts by field. Whatever else comes is not shown.
    """
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return ""
    parts = [error.get("title"), *_flat(error.get("detail")), error.get("additional_information")]
    return " ".join(dict.fromkeys(str(part).strip() for part in parts if part))[:500]


def _flat(detail: object, field: str = "") -> list[str]:
    if isinstance(detail, dict):
        return [text for name, part in detail.items() for text in _flat(part, str(name))]
    if isinstance(detail, list):
        return [text for part in detail for text in _flat(part, field)]
    if detail in (None, ""):
        return []
    return [f"{field}: {detail}" if field and field != "non_field_errors" else str(detail)]


def unreadable_answer() -> str:
    """Return what is said of an answer that is none."""
    return "The platform's response cannot be read."
