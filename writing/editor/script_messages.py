"""Messages of the editor's scripts, in the reader's language (static/js/ui/script-messages.js).

Names in braces are filled in by the scripts. What counts something comes as `name.one` and `name.other`.
"""

from django.utils.translation import gettext as _


def editor() -> dict[str, str]:
    """Return every message by its name."""
    return {**_text(), **_passages(), **_findings(), **_saving(), **_finishing(), **_branches(), **deadline()}


def deadline() -> dict[str, str]:
    """Return what static/js/assignments/deadline.js says, of a text or of a questionnaire."""
    return {
        "due": _("Due {time}"),
        "due.within": _("(in {left})"),
        "due.minutes.one": _("{n} min"),
        "due.minutes.other": _("{n} min"),
        "due.hours.one": _("{n} h"),
        "due.hours.other": _("{n} h"),
        "due.over": _("Time is over"),
        "due.soon": _("Your time for this task ends at {time}, in {left}. Do you need more time?"),
        "due.kept": _("You have more time now. Due {time}."),
        "due.failed": _("There is no connection to the server. Your time could not be extended. Try again."),
    }


def _text() -> dict[str, str]:
    return {
        "words.empty": _("about {target} words are asked for"),
        "words.short.one": _("{n} word of about {target}"),
        "words.short.other": _("{n} words of about {target}"),
        "words.right.one": _("{n} word: about right"),
        "words.right.other": _("{n} words: about right"),
        "words.long.one": _("{n} word; about {target} are asked for"),
        "words.long.other": _("{n} words; about {target} are asked for"),
        "preview.empty": _("What you write will be shown here as its readers will see it."),
        "offered.one": _(
            "{n} passage to cite. Type a number or a word to filter. Enter cites, Escape closes the list."
        ),
        "offered.other": _(
            "{n} passages to cite. Type a number or a word. Arrow keys choose, Enter cites, Escape closes the list."
        ),
        "found.one": _("{n} passage found."),
        "found.other": _("{n} passages found."),
        "none": _("There is no passage {number}; the last is {last}."),
        "none.words": _("No passage contains “{words}”."),
        "cited.now": _("Passage {rank} is cited."),
        "cited.added": _("Passage {rank} is added to the citation."),
        "cited.already": _("Passage {rank} is cited here already."),
    }


def _passages() -> dict[str, str]:
    return {
        "passage": _("Passage {rank}"),
        "more": _("Show all"),
        "less": _("Show less"),
        "seen": _("seen"),
        "cited.one": _("cited once"),
        "cited.other": _("cited {n} times"),
        "hits.one": _("{most} hit"),
        "hits.other": _("{most} hits"),
        "hits.none": _("not found"),
        "hit": _("{i} of {most}"),
    }


def _findings() -> dict[str, str]:
    return {
        "wrong": _("To correct"),
        "look": _("Worth a look"),
        "go": _("Go to it"),
        "findings.none": _("Nothing to correct: each citation has its passage."),
        "findings.empty": _("While you write, your citations are checked here."),
        "finding.copied": _("This is copied from passage {rank}. Write it in your own words:"),
        "finding.missing": _("{marker} cites a passage that is not there; the last is {last}."),
        "finding.empty": _("These brackets cite nothing."),
        "finding.unclosed": _("This bracket is not closed:"),
        "finding.uncited": _("Nothing is cited for this:"),
        "finding.elsewhere": _("The same is said elsewhere with {marker}, but without it here:"),
    }


def _saving() -> dict[str, str]:
    return {
        "save.opening": _("Opening"),
        "save.opening.more": _("Your text is being fetched; you can write in a moment."),
        "save.saved": _("Saved"),
        "save.saved.more": _("All that you wrote is on the server."),
        "save.saving": _("Saving"),
        "save.saving.more": _(
            "The last words are on their way to the server. They are kept on this device until then."
        ),
        "save.waiting.one": _("Saving for {n} s"),
        "save.waiting.other": _("Saving for {n} s"),
        "save.offline": _("Offline"),
        "save.offline.more": _("You can go on: your text is kept on this device and sent when the connection is back."),
        "save.problem": _("Not saved"),
        "save.problem.more": _("Your text is kept on this device and sent again and again; you can go on."),
        "save.problem.storage": _("This browser keeps nothing on this device: leave the page open until all is saved."),
        "save.problem.full": _("This device is full: leave the page open until all is saved."),
        "save.problem.large": _("The text is too large for the server. Make it shorter."),
        "save.unopened": _("The server cannot be reached. The page goes on trying; you can read meanwhile."),
        "save.problem.expired": _(
            "The server does not know this browser any longer. Open your link again in another tab, then this page "
            "goes on. Your text is kept on this device."
        ),
        "save.problem.closed": _("This topic is no longer open for writing. Load the page to see how it stands."),
        "save.fenced": _("Open elsewhere"),
        "save.fenced.more": _("Writing goes on in another tab or on another device."),
    }


def _finishing() -> dict[str, str]:
    return {
        "finish.empty": _("There is no text yet, so there is nothing to finish."),
        "finish.ready.one": _("{n} word, and nothing to correct. A few questions follow; then it is submitted."),
        "finish.ready.other": _("{n} words, and nothing to correct. A few questions follow; then it is submitted."),
        "finish.look.one": _("Before you finish, one thing is worth a look:"),
        "finish.look.other": _("Before you finish, {n} things are worth a look:"),
        "finish.short.one": _("The text has {n} word; about {target} are asked for."),
        "finish.short.other": _("The text has {n} words; about {target} are asked for."),
        "finish.long.one": _("The text has {n} word; about {target} are asked for."),
        "finish.long.other": _("The text has {n} words; about {target} are asked for."),
        "finish.nothing_cited": _("No passage is cited in the whole text."),
        "finish.further.one": _("And one more."),
        "finish.further.other": _("And {n} more."),
        "finish.yes": _("Finish"),
        "finish.anyway": _("Finish anyway"),
        "finish.sending": _("The last of your text is being sent. Please keep this page open."),
        "finish.waits.offline": _(
            "You are offline, so the text is not finished yet. It is kept on this device and finished when the "
            "connection is back. Leave this page open, or keep writing."
        ),
        "finish.waits.problem": _(
            "The server does not answer, so the text is not finished yet. The page tries again. Leave it open, or "
            "keep writing."
        ),
        "finish.waits.expired": _(
            "The server does not know this browser any more. Open your link in another tab. Then this page finishes "
            "the text."
        ),
        "finish.problem": _("It could not be finished just now. Your text is safe; try again in a moment."),
        "finish.problem.behind": _("Not all of your text had arrived. It is being sent; try again in a moment."),
        "finish.problem.differs": _(
            "The text on the server differs from the one here. Load the page again: both are kept and shown to you."
        ),
        "finish.problem.fenced": _("Writing goes on in another tab or on another device: finish it there."),
        "finish.problem.offline": _("There is no connection. Your text is kept on this device; try again later."),
        "finish.problem.expired": _("Open your link again in another tab, then try once more. Your text is kept."),
    }


def _branches() -> dict[str, str]:
    return {
        "branch.title": _("There is more of your text"),
        "branch.lede.one": _("Another tab or device holds a text that is not part of this one. Which do you want?"),
        "branch.lede.other": _("Other tabs or devices hold texts that are not part of this one. Which do you want?"),
        "branch.here": _("The text here"),
        "branch.there": _("Another text ({i})"),
        "branch.take": _("Go on with this one"),
        "branch.keep": _("Keep the text here"),
        "branch.nothing": _("(empty)"),
        "branch.taken": _("The other text stands here now. Undo brings the former back."),
        "fenced.title": _("Writing goes on elsewhere"),
        "fenced.lede": _(
            "This topic was opened in another tab or on another device, so this page only shows your text. "
            "Go on there, or go on here: then the page is loaded again with what was written there."
        ),
        "fenced.here": _("The text in this tab"),
        "fenced.leave": _("Only look at it"),
        "fenced.go": _("Go on here"),
        "closed.title": _("This topic is no longer open for writing"),
        "closed.lede": _("It was submitted or given back, here or elsewhere. What you wrote is kept."),
        "closed.here": _("The text in this tab"),
        "closed.leave": _("Only look at it"),
        "closed.go": _("See how it stands"),
    }
