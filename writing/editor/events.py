"""The events that the editor records. Validation, documentation and consent text are derived from this list.

An event is a JSON array: its kind, milliseconds since the log's start, and its fields in the listed order.
Positions and lengths are Unicode code points. A place is a passage's rank (from 0), -1 for the writer's own text, or -2
for anywhere else.
"""

from dataclasses import dataclass

from django.utils.translation import gettext_noop as _

OWN_TEXT = -1
ELSEWHERE = -2

# The origin of a splice (its fifth field; the sixth is the browser's inputType, or empty).
SOURCES = (
    "typed",
    "composed",  # with an input method: Chinese, Japanese, accents, most phones
    "pasted",
    "dropped",
    "cut",
    "deleted",
    "replaced",  # by the spell checker or autocorrection
    "undone",
    "redone",
    "cited",  # a citation marker that the page inserted for the writer
    "restored",  # from another tab or an earlier session
    "external",  # by another program, for example a browser extension
)

# Classes of keys. The log contains only a key's class, the time of the press and its duration.
KEYS = ("letter", "digit", "space", "mark", "enter", "backspace", "delete", "move", "modifier", "command", "other")


@dataclass(frozen=True)
class EventKind:
    """A kind of event: its code, the names of its fields after kind and time, and its meaning in plain words.

    Name and meaning are marked for translation, and translated on display.
    """

    code: str
    fields: tuple[str, ...]
    name: str
    meaning: str


EVENT_KINDS = (
    EventKind(
        "s",
        ("position", "deleted", "inserted", "source", "input_type"),
        _("text changes"),
        _(
            "Every change of your text: what was added or deleted, where, and how "
            "(typed, pasted, corrected, undone, ...)."
        ),
    ),
    EventKind("c", ("start", "end"), _("cursor"), _("Where the cursor is and what is selected in your text.")),
    EventKind(
        "k",
        ("class", "held"),
        _("key timing"),
        _("When you pressed a key and for how long. Only the type of key (letter, digit, space, ...), not which key."),
    ),
    EventKind(
        "y",
        ("place", "start", "end", "cut"),
        _("copying"),
        _("That you copied or cut text, and from where: a passage, your own text, or elsewhere on the page."),
    ),
    EventKind(
        "p",
        ("place", "length", "share"),
        _("pasting"),
        _("That you pasted text, how much, and what share of it is in a passage or in your own text."),
    ),
    EventKind("f", ("on",), _("focus"), _("Whether this page receives what you type.")),
    EventKind(
        "v", ("on",), _("visibility"), _("Whether this page is visible, or hidden behind another tab or window.")
    ),
    EventKind("o", ("rank", "on"), _("passage opened"), _("Which passage you opened or closed.")),
    EventKind("d", ("rank", "milliseconds"), _("passage in view"), _("How long a passage was in view.")),
    EventKind("w", ("place", "percent"), _("scrolling"), _("How far you scrolled the passages or the text.")),
    EventKind(
        "q", ("words", "hits"), _("search"), _("What you searched for in the passages, and how many passages matched.")
    ),
    EventKind("b", ("rank", "position", "way"), _("citing"), _("Which passage you cited, where, and how.")),
    EventKind("z", ("width", "height"), _("window size"), _("The size of the page when it changes.")),
    EventKind(
        "j", ("milliseconds",), _("clock"), _("That your device's clock was changed, or that the device was asleep.")
    ),
    EventKind(
        "h", ("digest",), _("checksum"), _("A number computed from your text, to prove that the record is complete.")
    ),
    EventKind(
        "a",
        ("clock", "width", "height", "touch"),
        _("opening"),
        _(
            "When you opened the editor, by your device's clock. The page's size. "
            "Whether your device has a touch screen."
        ),
    ),
)
BY_CODE = {each.code: each for each in EVENT_KINDS}
# The origin of a citation (third field of "b").
CITED_BY = ("button", "typed", "shortcut")
