"""Messages of the editor's scripts, in the reader's language (static/js/ui/script-messages.js).

Scripts replace names in braces. Messages with a count have two forms, `name.one` and `name.other`.
"""

from django.utils.translation import gettext as _

from crowdrag.assignments.script_messages import deadline


def editor() -> dict[str, str]:
    """Return all messages by name."""
    return {**_text(), **_passages(), **_findings(), **_saving(), **_finishing(), **_branches(), **deadline()}


def _text() -> dict[str, str]:
    return {
        "words.empty": _("Target: about {target} words"),
        "words.short.one": _("{n} word (target: about {target})"),
        "words.short.other": _("{n} words (target: about {target})"),
        "words.right.one": _("{n} word: about right"),
        "words.right.other": _("{n} words: about right"),
        "words.long.one": _("{n} word, {over} over the target of about {target}"),
        "words.long.other": _("{n} words, {over} over the target of about {target}"),
        "preview.empty": _("Your text appears here as readers will see it."),
        "offered.one": _(
            "{n} passage to cite. Type a number or a word to filter. Press Enter to cite, Escape to close the list."
        ),
        "offered.other": _(
            "{n} passages to cite. Type a number or a word to filter. Use the arrow keys to choose. "
            "Press Enter to cite, Escape to close the list."
        ),
        "found.one": _("{n} passage found."),
        "found.other": _("{n} passages found."),
        "none": _("There is no passage {number}. The last passage is {last}."),
        "none.words": _("No passage contains “{words}”."),
        "cited.now": _("Passage {rank} is cited."),
        "cited.added": _("Passage {rank} is added to the citation."),
        "cited.already": _("Passage {rank} is already cited here."),
    }


def _passages() -> dict[str, str]:
    return {
        "passage": _("Passage {rank}"),
        "more": _("Show all"),
        "less": _("Show less"),
        "seen": _("seen"),
        "cited.one": _("cited once"),
        "cited.other": _("cited {n} times"),
        "hits.one": _("{most} match"),
        "hits.other": _("{most} matches"),
        "hits.none": _("no matches"),
        "hit": _("{i} of {most}"),
    }


def _findings() -> dict[str, str]:
    return {
        "wrong": _("Please fix"),
        "look": _("Please check"),
        "go": _("Show in text"),
        "findings.none": _("No problems found. Each number that you cite belongs to a passage."),
        "findings.empty": _("Your text and citations are checked here while you write."),
        "finding.copied": _(
            "{n} words in a row are copied from passage {rank}. Write this in your own words, "
            "with fewer than {limit} copied words in a row:"
        ),
        "finding.missing": _("{marker} cites a passage that does not exist. The last passage is {last}."),
        "finding.empty": _("These brackets are empty. Enter the number of a passage, or type [ to choose one."),
        "finding.unclosed": _("This bracket is not closed:"),
        "finding.uncited": _("This statement has no citation:"),
        "finding.elsewhere": _("The same statement cites {marker} elsewhere, but not here:"),
    }


def _saving() -> dict[str, str]:
    return {
        "save.opening": _("Opening"),
        "save.opening.more": _("Your text is loading. You can write in a moment."),
        "save.saved": _("Saved"),
        "save.saved.more": _("Your text is saved on the server."),
        "save.saving": _("Saving"),
        "save.saving.more": _(
            "Your last changes are being sent to the server. Until then, they are stored on this device."
        ),
        "save.waiting.one": _("Saving for {n} s"),
        "save.waiting.other": _("Saving for {n} s"),
        "save.offline": _("Offline"),
        "save.offline.more": _(
            "You can keep writing. Your text is stored on this device and sent when the connection is back."
        ),
        "save.problem": _("Not saved"),
        "save.problem.more": _(
            "Your text is stored on this device, and we keep trying to send it. You can keep writing."
        ),
        "save.problem.storage": _(
            "This browser cannot store your text on this device. Keep this page open until your text is saved."
        ),
        "save.problem.full": _("This device has no free space. Keep this page open until your text is saved."),
        "save.problem.large": _("Your text is too long to save. Make it shorter."),
        "save.unopened": _("We cannot reach the server. This page keeps trying. You can read in the meantime."),
        "save.problem.expired": _(
            "The server no longer recognises this browser. Open your link again in another tab. Then this page "
            "continues. Your text is stored on this device."
        ),
        "save.problem.closed": _("This task is no longer open for writing. Reload the page to see its status."),
        "save.fenced": _("Open elsewhere"),
        "save.fenced.more": _("This task is open in another tab or on another device."),
    }


def _finishing() -> dict[str, str]:
    return {
        "finish.empty": _("There is no text yet. Write your response before you finish."),
        "finish.ready.one": _("{n} word, and no problems found. You submit your text on the next page."),
        "finish.ready.other": _("{n} words, and no problems found. You submit your text on the next page."),
        "finish.look.one": _("Before you finish, please check one thing:"),
        "finish.look.other": _("Before you finish, please check {n} things:"),
        "finish.short.one": _("Your text has {n} word. The target is about {target}."),
        "finish.short.other": _("Your text has {n} words. The target is about {target}."),
        "finish.long.one": _("Your text has {n} word. The target is about {target}."),
        "finish.long.other": _("Your text has {n} words. The target is about {target}."),
        "finish.nothing_cited": _("Your text does not cite any passage."),
        "finish.further.one": _("And one more."),
        "finish.further.other": _("And {n} more."),
        "finish.yes": _("Finish"),
        "finish.anyway": _("Finish anyway"),
        "finish.sending": _("Saving your last changes. Please keep this page open."),
        "finish.waits.offline": _(
            "You are offline, so your text has not been sent yet. It is stored on this device and sent when the "
            "connection is back. Keep this page open, or keep writing."
        ),
        "finish.waits.problem": _(
            "The server does not respond, so your text has not been sent yet. This page tries again. Keep it open, or "
            "keep writing."
        ),
        "finish.waits.expired": _(
            "The server no longer recognises this browser. Open your link in another tab. Then this page sends your "
            "text."
        ),
        "finish.problem": _("We could not save your final text. Nothing is lost. Try again in a moment."),
        "finish.problem.behind": _("Some of your text is still being sent. Try again in a moment."),
        "finish.problem.differs": _(
            "The text on the server differs from the text here. Reload the page. Both are saved, and you can see both."
        ),
        "finish.problem.fenced": _("This task is open in another tab or on another device. Finish it there."),
        "finish.problem.offline": _("There is no connection. Your text is stored on this device. Try again later."),
        "finish.problem.expired": _("Open your link again in another tab, then try again here. Your text is safe."),
    }


def _branches() -> dict[str, str]:
    return {
        "branch.title": _("You have another version of your text"),
        "branch.lede.one": _("Another tab or device has text that is not in this version. Which version do you want?"),
        "branch.lede.other": _(
            "Other tabs or devices have text that is not in this version. Which version do you want?"
        ),
        "branch.here": _("Version in this tab"),
        "branch.there": _("Another version ({i})"),
        "branch.take": _("Use this version"),
        "branch.keep": _("Keep the version in this tab"),
        "branch.nothing": _("(empty)"),
        "branch.taken": _("The other version is now in the editor. Undo brings back the previous one."),
        "fenced.title": _("This task is open elsewhere"),
        "fenced.lede": _(
            "You opened this task in another tab or on another device, so you cannot write here. "
            "Continue there or here. If you continue here, the page reloads with what you wrote there."
        ),
        "fenced.here": _("Text in this tab"),
        "fenced.leave": _("Stay here without editing"),
        "fenced.go": _("Continue here"),
        "closed.title": _("This task is no longer open for writing"),
        "closed.lede": _("It was submitted or returned, or your time for it is over. Your text is saved."),
        "closed.here": _("Text in this tab"),
        "closed.leave": _("Stay here without editing"),
        "closed.go": _("View status"),
    }
