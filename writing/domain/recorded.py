"""The table of what is recorded, for the docs: made of the list by which everything that comes in is checked."""

from . import events, incoming


def as_markdown() -> str:
    """Return the kinds of events and their fields as a table, and what each field may hold as another."""
    kinds = ["| event | what | in plain words |", "|---|---|---|"]
    for each in events.RECORDED:
        fields = ", ".join([f'"{each.code}"', "ms", *each.fields])
        kinds.append(f"| `[{fields}]` | {each.name} | {each.meaning} |")
    fields_ = ["| field | holds |", "|---|---|", f"| `ms` | {incoming.TIME.expected} |"]
    fields_ += [f"| `{name}` | {rule.expected} |" for name, rule in incoming.FIELDS.items()]
    return "\n".join([*kinds, "", *fields_])
