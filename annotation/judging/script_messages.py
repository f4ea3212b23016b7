"""Messages of a questionnaire's scripts, in the reader's language (static/js/ui/script-messages.js).

Names in braces are filled in by the scripts. What counts something comes as `name.one` and `name.other`.
"""

from django.utils.translation import gettext as _

from writing.editor.script_messages import deadline


def questionnaire() -> dict[str, str]:
    """Return every message by its name."""
    return {**_saving(), **deadline(), **_moving(), **_finishing()}


def _saving() -> dict[str, str]:
    return {
        "save.opening": _("Opening"),
        "save.opening.more": _("The page is being made ready."),
        "save.saved": _("Saved"),
        "save.saved.more": _("Every answer that you gave has arrived."),
        "save.saving": _("Saving"),
        "save.saving.more": _("Your last answer is on its way."),
        "save.waiting.one": _("Saving, for {n} second"),
        "save.waiting.other": _("Saving, for {n} seconds"),
        "save.offline": _("Not saved: no connection"),
        "save.offline.more": _(
            "Your answers are kept in this browser and are sent when the connection is back. Go on."
        ),
        "save.unkept": _("Not saved: keep this page open"),
        "save.unkept.more": _("This browser keeps nothing, so stay on this page until your answers have arrived."),
        "save.server": _("Not saved yet: the server is away"),
        "save.server.more": _("Your answers are kept in this browser, and are sent when the server is back."),
        "save.expired": _("Not saved: open your link again"),
        "save.expired.more": _(
            "This browser was forgotten. Open your link, or start from the platform, in another tab; then this page "
            "sends your answers by itself."
        ),
        "save.closed": _("Closed"),
        "save.closed.more": _("This questionnaire takes no answers any more."),
        "closed.title": _("This questionnaire takes no answers any more"),
        "closed.text": _("It was submitted elsewhere, or it went back. Nothing that you change here is kept."),
        "withdrawn.title": _("You have left this study"),
        "withdrawn.text": _("You withdrew, or the text about what is recorded is to be read again. See there:"),
        "closed.go": _("See what became of it"),
        "other": _("Changed in another window: this question shows the answer that was given there. Look at it again."),
        "bad": _("This answer could not be stored: {message} Choose again."),
        "late": _(
            "Your time for this questionnaire is over. Go on and submit it: it is kept, and it counts if nobody "
            "else has taken your place."
        ),
    }


def _moving() -> dict[str, str]:
    return {
        "state.complete": _("complete"),
        "state.partly": _("partly answered"),
        "state.open": _("not answered yet"),
        "state.here": _("shown now"),
        "dot": _("{name} {number}: {state}"),
        "answered": _("{answered} of {all} answered"),
        "item.complete": _("All questions here are answered."),
        "open.none": _("Every question is answered. You can submit."),
    }


def _finishing() -> dict[str, str]:
    return {
        "finish.ready": _("Every question is answered. You can look at each again before you submit."),
        "finish.open.one": _("{n} question is still open. Answer it, then submit:"),
        "finish.open.other": _("{n} questions are still open. Answer them, then submit:"),
        "finish.unfinished.one": _(
            "Not submitted: {n} question has no complete answer yet. It is this one, in {name} {number}."
        ),
        "finish.unfinished.other": _(
            "Not submitted: {n} questions have no complete answer yet. The first is this one, in {name} {number}."
        ),
        "finish.of.one": _("{name} {number}: {n} question"),
        "finish.of.other": _("{name} {number}: {n} questions"),
        "finish.sending": _(
            "Your last answers are being sent. The questionnaire is submitted as soon as they are there."
        ),
        "finish.handing": _("Submitting …"),
        "finish.waits": _("It could not be submitted yet; it is tried again until it works. Stay on this page."),
    }
