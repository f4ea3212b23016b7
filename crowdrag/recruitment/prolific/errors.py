"""Errors of the platform. Each class states what is known of the outcome."""


class PlatformError(Exception):
    """The platform did not carry out a request; the message says why."""


class NotConfiguredError(PlatformError):
    """The operator has not set up the platform, or not for this study."""


class UnreachableError(PlatformError):
    """No connection: nothing was sent."""


class OutcomeUnknownError(PlatformError):
    """It was sent and the response is missing or unclear: it may have been done or not."""


class BusyError(PlatformError):
    """The platform asks to come back later; nothing was done."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class TokenError(PlatformError):
    """The token is invalid, or has no permission for this."""


class RefusedError(PlatformError):
    """The platform rejects this request; sending it again does not help."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class MissingError(RefusedError):
    """The platform does not know the named object."""


def error_message(body: object) -> str:
    """Return the message in an error's body, as a sentence or two.

    The documented shape is `{"error": {"title", "detail", "additional_information"}}`, where the detail is a text or
    texts by field. Nothing else is shown.
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
    """Return the message for an unreadable response."""
    return "The platform's response cannot be read."
