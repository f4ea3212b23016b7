"""Whether something that people are to work by can be opened to them."""

from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from ..models import Study


@dataclass(frozen=True)
class Readiness:
    """What keeps something from being opened, and what one should know before one opens it."""

    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_ready(self) -> bool:
        """Whether it can be opened."""
        return not self.problems


def unsaid(study: Study) -> list[str]:
    """Say what people should know of those who ask them, and are not told."""
    missing = {
        _("who asks"): study.asked_by,
        _("whom to turn to"): study.contact,
        _("how and when they are paid"): study.payment,
        _("how long what they give is kept"): study.retention,
    }
    if not (names := [name for name, said in missing.items() if not said]):
        return []
    return [
        _("People are not told %(what)s. Say it on the study's page “About the study”: they read it before they agree.")
        % {"what": ", ".join(names)}
    ]
