"""The reference of webhook events, from the outbox's definitions."""

from typing import Final

from crowdrag.webhooks.outbox import CONTENTS

from .markdown import table

_BEGINNING: Final = """\
# Webhook events

This page is for developers of systems that receive messages of CrowdRAG. It lists the events and the fields of
their `data`. It is written from the code (`make reference`). [Webhooks](../guides/webhooks.md) says how to
create a webhook, and how to receive and check a message.

Every message has three fields: `type` (the name of the event), `timestamp` (when it happened, ISO 8601, UTC)
and `data`.
"""


def page() -> str:
    """Return the page."""
    lines = [_BEGINNING]
    for event, fields in CONTENTS.items():
        label = str(event.label)
        lines += [f"## {event.value}", "", f"Sent when: {label}.", ""]
        lines += table(("field of `data`", "meaning"), ((f"`{name}`", text) for name, text in fields.items()))
    return "\n".join(lines).rstrip() + "\n"
