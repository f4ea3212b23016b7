"""Permissions of the API: the role and the token scope that a method needs."""

from dataclasses import dataclass

from crowdrag.accounts import tokens
from crowdrag.accounts.enums import Scope
from crowdrag.accounts.models import ApiToken
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study, User

from .problems import Problem


@dataclass(frozen=True)
class Need:
    """The requirements of a method: a role in the study (None if there is no study), and a token scope."""

    role: Role | None
    scope: Scope = Scope.READ


def enter(user: User, slug: str) -> tuple[Study, Role]:
    """Return a study and the user's role in it.

    Raises
    ------
    Problem
        "not-found" if there is none, or the user is not a member.
    """
    study = Study.objects.for_user(user).with_role(user).filter(slug=slug).first()
    if study is None:
        raise Problem("not-found")
    return study, Role.OWNER if user.is_superuser else Role(study.role)  # type: ignore[attr-defined]


def check_role(need: Need, role: Role) -> None:
    """Raise the problem "forbidden" if the role in the study is lower than needed."""
    if need.role is not None and role < need.role:
        raise Problem("forbidden", f"You need the role {need.role.label} or higher in this study.")


def check_scope(need: Need, token: ApiToken | None, study: Study | None) -> None:
    """Check that a token has the needed scope in this study; users who are signed in by session need none.

    Raises
    ------
    Problem
        "scope" if the token lacks it; "not-found" for studies that the token cannot read, which must look as if they
        did not exist.
    """
    if token is None:
        return
    held = tokens.scopes_in(token, study)
    if study is not None and Scope.READ not in held:
        raise Problem("not-found")
    if need.scope not in held and not (study is None and need.scope == Scope.READ):
        raise Problem("scope", f"Your token needs the scope {need.scope.value}.")
