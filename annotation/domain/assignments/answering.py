"""Answers as they are given, one by one: stored at once, changeable until the questionnaire is handed in.

Each answer names its revision, one more than the one it replaces. The same sent again is the same; of two that both
replace one answer (two tabs), the first stays, and the second is told.
"""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from ...enums import AssignmentState
from ...models import Assignment, AttentionCheck, CampaignDimension, CheckAnswer, Dimension, Judgment, QuestionnaireItem
from . import holding, moving, problems

# In these states answers are taken: whoever was late may finish, and hand in.
TAKES: Final = frozenset({AssignmentState.ASSIGNED, AssignmentState.TIMED_OUT, AssignmentState.RETURNED})
LONGEST_JUSTIFICATION: Final = 10_000
# The columns' limits.
MOST_REVISIONS: Final = 2_147_483_647


@transaction.atomic
def answer(
    *,
    assignment: Assignment,
    item: int,
    dimension: int,
    value: int,
    justification: str = "",
    revision: int,
    now: datetime,
) -> Judgment:
    """Store an answer to one dimension of one item, and renew the lease.

    Raises
    ------
    OtherAnswer
        if the answer replaces another one than the one that is stored.
    BadAnswer
        if it answers no question of the questionnaire.
    HandedIn, LeftStudy
        if answers are taken no more.
    """
    justification = storable(justification).strip()
    if len(justification) > LONGEST_JUSTIFICATION:
        raise problems.BadAnswer(_("A justification may have at most %(n)s characters.") % {"n": LONGEST_JUSTIFICATION})
    _check_revision(revision)
    assignment = held(assignment)
    _check_question(assignment, item, dimension, value)
    known = Judgment.objects.filter(assignment=assignment, item=item, dimension=dimension, repeat=0).first()
    content = {"value": value, "justification": justification}
    if known is None:
        known = Judgment.objects.create(
            assignment=assignment, item_id=item, dimension_id=dimension, judged_at=now, **content
        )
    elif _replaces(known, content, revision):
        _change(known, content, revision, judged_at=now)
    holding.renew(assignment, now)
    return known


@transaction.atomic
def check(*, assignment: Assignment, check: int, value: int, revision: int, now: datetime) -> CheckAnswer:
    """Store the answer to an attention check, and renew the lease; problems are those of `answer`."""
    _check_revision(revision)
    assignment = held(assignment)
    asked = AttentionCheck.objects.filter(pk=_key(check), questionnaire=assignment.questionnaire_id).first()
    if asked is None or not _is_option(value, asked.options):
        raise problems.BadAnswer(_("This is no answer to a question of this questionnaire."))
    known = CheckAnswer.objects.filter(assignment=assignment, check_asked=asked).first()
    content = {"value": value}
    if known is None:
        known = CheckAnswer.objects.create(assignment=assignment, check_asked=asked, answered_at=now, **content)
    elif _replaces(known, content, revision):
        _change(known, content, revision, answered_at=now)
    holding.renew(assignment, now)
    return known


def held(assignment: Assignment) -> Assignment:
    """Return an assignment that takes answers, as it is now, held until the transaction ends; its judge is not held.

    Whoever hands in or lets somebody leave holds the assignment too, so nothing comes in behind them.
    """
    assignment = moving.locked_alone(assignment.pk)
    if assignment.state not in TAKES:
        raise problems.HandedIn(assignment, assignment.state)
    # Read after the lock was had: they may have left while this waited for it.
    assignment.participant.refresh_from_db(fields=["withdrawn_at", "erased_at"])
    if assignment.participant.withdrawn_at or assignment.participant.erased_at:
        raise problems.LeftStudy
    return assignment


def storable(text: str) -> str:
    """Replace what the database cannot hold: U+0000 and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _check_question(assignment: Assignment, item: int, dimension: int, value: int) -> None:
    asked = QuestionnaireItem.objects.filter(questionnaire=assignment.questionnaire_id, item=_key(item)).exists()
    campaign = assignment.questionnaire.campaign_id
    options = Dimension.objects.filter(
        pk__in=CampaignDimension.objects.filter(campaign=campaign, dimension=_key(dimension)).values("dimension")
    ).values_list("options", flat=True)
    if not asked or not any(_is_option(value, each) for each in options):
        raise problems.BadAnswer(_("This is no answer to a question of this questionnaire."))


def _is_option(value: object, options: list[dict[str, Any]]) -> bool:
    # True is 1 to Python, and to nobody else.
    return type(value) is int and any(option["value"] == value for option in options)


def _key(key: object) -> int:
    """Return a key that the database can look for; 0 is nobody's."""
    return key if type(key) is int and 0 < key < 2**63 else 0


def _check_revision(revision: object) -> None:
    if type(revision) is not int or not 1 <= revision <= MOST_REVISIONS:
        raise problems.BadAnswer(_("An answer says which one it is, from 1 up."))


def _replaces(known: Judgment | CheckAnswer, content: dict[str, Any], revision: int) -> bool:
    """Say whether an answer is to be stored over the known one; False if it is the known one."""
    if revision <= known.revision and all(getattr(known, name) == value for name, value in content.items()):
        return False
    if revision != known.revision + 1:
        raise problems.OtherAnswer(known)
    return True


def _change(known: Judgment | CheckAnswer, content: dict[str, Any], revision: int, **at: datetime) -> None:
    # Compared once more in the statement itself: the caller's lock keeps others away, and this notices if not.
    stored = type(known)._default_manager.filter(pk=known.pk, revision=revision - 1)
    if not stored.update(**content, revision=revision, **at):
        known.refresh_from_db()
        raise problems.OtherAnswer(known)
    for name, value in {**content, "revision": revision, **at}.items():
        setattr(known, name, value)
