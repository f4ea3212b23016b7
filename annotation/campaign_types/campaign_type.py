"""The value that states everything about a type of campaign (docs/architecture.md, "Add a campaign type")."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils.functional import Promise

from crowdrag.studies.models import Study

from ..enums import CampaignKind
from ..models import Dimension
from .drawn_items import DrawnItem, ResponseText

#: Fields of the design that choose responses, and that divide items into questionnaires.
RESPONSE_FIELDS: Final = frozenset({"topics", "topic_sample", "styles", "origins"})
QUESTIONNAIRE_FIELDS: Final = frozenset({"items_per_questionnaire", "remainder", "seed"})


@dataclass(frozen=True)
class JudgeTexts:
    """What judges read about items of a type, as lazy translations; each is a whole sentence or label.

    Attributes
    ----------
    title : str
        The title of a campaign. Its name is internal and may reveal too much.
    task : str
        What judges do, in two or three sentences.
    item : str
        The label of an item: "Pair".
    heading : str
        An item's heading, with `number` and `of`.
    about : str
        Which item a message is about, with `number`.
    answered : str
        How many of an item's questions are answered, with `{answered}` and `{all}`, which a script fills in.
    recorded : str
        What the page records.
    size, questions : str
        A sentence with the number `n` of items of a questionnaire, and of questions about each; singular or plural.
    unanswered : str
        An item's label with its `number`, and the number `n` of its unanswered questions; singular or plural.
    """

    title: str | Promise
    task: str | Promise
    item: str | Promise
    heading: str | Promise
    about: str | Promise
    answered: str | Promise
    recorded: str | Promise
    size: str | Promise
    questions: str | Promise
    unanswered: str | Promise


def items_of_responses(texts: Sequence[ResponseText]) -> list[DrawnItem]:
    """Return one item for each response."""
    return [DrawnItem(text) for text in texts]


@dataclass(frozen=True)
class CampaignType:
    """A type of campaign: what is shown in one step, what is asked about it, and how items are drawn.

    Attributes
    ----------
    kind : CampaignKind
        As stored.
    choice : str
        What a researcher reads when choosing the type.
    items, item : str
        Names of the items for researchers, as a title ("Pairs") and in a sentence ("pair").
    responses : int
        Number of responses that an item shows and that are compared or rated: 2, 1, or 0 if it shows something else.
    texts : JudgeTexts
        What judges read. Not used for types that ask another campaign's items again.
    design_fields : frozenset of str
        The fields of the design that apply (annotation/campaigns/design.py).
    items_of : callable
        Returns the items about responses, if the type does not compare them.
    asks_again : bool
        Whether it asks the items of another campaign again; then texts and questions are those of its type.
    nothing_to_draw : str
        Why nothing can be drawn, for a researcher.
    question_names : tuple of str
        Short names of the default questions. A study's own versions of them are taken if there are some.
    default_questions : callable
        Returns the default questions of a study; creates those that are missing.
    instructions : callable
        Returns the beginning of the default instructions in the current language, for the campaign's dimensions.
    """

    kind: CampaignKind
    choice: str
    items: str
    item: str
    responses: int
    texts: JudgeTexts
    question_names: tuple[str, ...]
    design_fields: frozenset[str]
    nothing_to_draw: str
    default_questions: Callable[[Study, datetime], list[Dimension]]
    instructions: Callable[[Sequence[Dimension]], str]
    items_of: Callable[[Sequence[ResponseText]], list[DrawnItem]] = items_of_responses
    asks_again: bool = False

    @property
    def compares(self) -> bool:
        """Whether two responses are compared, with the answers A, neither and B."""
        return self.responses == 2
