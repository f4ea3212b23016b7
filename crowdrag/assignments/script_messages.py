"""Messages of the scripts that texts and questionnaires share, in the reader's language (static/js/assignments)."""

from django.utils.translation import gettext as _


def deadline() -> dict[str, str]:
    """Return the messages of static/js/assignments/deadline.js, for texts and questionnaires."""
    return {
        "due": _("Due {time}"),
        "due.within": _("(in {left})"),
        "due.minutes.one": _("{n} min"),
        "due.minutes.other": _("{n} min"),
        "due.hours.one": _("{n} h"),
        "due.hours.other": _("{n} h"),
        "due.over": _("Time is up"),
        "due.soon": _("Your time for this task ends at {time}, in {left}. Do you need more time?"),
        "due.kept": _("You have more time now. Due {time}."),
        "due.failed": _("There is no connection to the server. Your time could not be extended. Try again."),
    }
