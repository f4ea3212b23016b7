"""Messages of a questionnaire's scripts, in the reader's language (static/js/ui/script-messages.js).

The scripts fill in names in braces. Messages with counts have the forms `name.one` and `name.other`.
"""

from django.utils.translation import gettext as _

from crowdrag.assignments.script_messages import deadline

from ..campaign_types.campaign_type import JudgeTexts


def questionnaire(texts: JudgeTexts) -> dict[str, str]:
    """Return all messages by name; `texts` are those of the type of items."""
    return {**_saving(), **deadline(), **_moving(texts), **_finishing()}


def _saving() -> dict[str, str]:
    return {
        "save.opening": _("Opening"),
        "save.opening.more": _("The page is loading."),
        "save.saved": _("Saved"),
        "save.saved.more": _("All your answers are saved."),
        "save.saving": _("Saving"),
        "save.saving.more": _("Your last answer is being sent."),
        "save.waiting.one": _("Saving for {n} second"),
        "save.waiting.other": _("Saving for {n} seconds"),
        "save.offline": _("Not saved: no connection"),
        "save.offline.short": _("Offline"),
        "save.offline.more": _(
            "Your answers are stored in this browser and sent when the connection is back. You can continue."
        ),
        "save.unkept": _("Not saved: keep this page open"),
        "save.unkept.short": _("Not saved"),
        "save.unkept.more": _("This browser cannot store your answers. Stay on this page until they are saved."),
        "save.server": _("Not saved yet: no answer from the server"),
        "save.server.short": _("Not saved"),
        "save.server.more": _("Your answers are stored in this browser and sent when the server is back."),
        "save.expired": _("Not saved: open your link again"),
        "save.expired.short": _("Not saved"),
        "save.expired.more": _(
            "The server no longer recognises this browser. Open your link, or start from the platform, in another "
            "tab. Then this page sends your answers automatically."
        ),
        "save.closed": _("Closed"),
        "save.closed.short": _("Closed"),
        "save.closed.more": _("You can no longer answer this questionnaire."),
        "closed.title": _("You can no longer answer this questionnaire"),
        "closed.text": _("It was submitted in another window, or it was returned. Changes on this page are not saved."),
        "withdrawn.title": _("You can no longer continue here"),
        "withdrawn.text": _("You withdrew from this study, or you need to read the consent text again."),
        "closed.go": _("View status"),
        "other": _("You changed this answer in another window. The question now shows that answer. Please check it."),
        "bad": _("This answer could not be saved: {message} Choose again."),
        "late": _(
            "Your time for this questionnaire is over. You can still finish and submit it. It is kept, and it counts "
            "if no one else has taken your place."
        ),
    }


def _moving(texts: JudgeTexts) -> dict[str, str]:
    return {
        "state.complete": _("complete"),
        "state.partly": _("partly answered"),
        "state.open": _("not answered"),
        "state.here": _("current"),
        "dot": _("{name} {number}: {state}"),
        "answered": _("{answered} of {all} answered"),
        "answered.item": str(texts.answered),
        "answered.short": _("{answered}/{all}"),
        "passage.loading": _("Loading the source …"),
        "passage.missing": _("This number has no source."),
        "passage.failed": _("The source could not be loaded. Try again when you are online."),
        "report.sending": _("Sending …"),
        "report.sent": _("Your message was sent. Thank you."),
        "report.failed": _("Your message was not sent. It is stored in this browser. Try again."),
        "item.complete": _("You answered all questions here."),
        "open.none": _("You answered every question. You can submit."),
    }


def _finishing() -> dict[str, str]:
    return {
        "finish.ready": _("You answered every question. You can check your answers before you submit."),
        "finish.open.one": _("{n} question is not answered. Answer it, then submit:"),
        "finish.open.other": _("{n} questions are not answered. Answer them, then submit:"),
        "finish.unfinished.one": _(
            "Not submitted: {n} question is not answered in full. It is this one, in {name} {number}."
        ),
        "finish.unfinished.other": _(
            "Not submitted: {n} questions are not answered in full. The first is this one, in {name} {number}."
        ),
        "finish.of.one": _("{name} {number}: {n} question"),
        "finish.of.other": _("{name} {number}: {n} questions"),
        "finish.sending": _("Saving your last answers. After that, the questionnaire is submitted."),
        "finish.handing": _("Submitting …"),
        "finish.waits": _("The questionnaire is not submitted yet. This page keeps trying. Stay on this page."),
    }
