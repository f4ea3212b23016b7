"""Forms of signing in and of making a token."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from crowdrag.studies.models import Study, User

from .enums import Scope


class SignInForm(AuthenticationForm):
    """E-mail address and password; whoever failed too often is told how long to wait."""

    def get_invalid_login_error(self) -> ValidationError:
        """Say that the two do not go together, or that they were not looked at."""
        seconds = getattr(self.request, "sign_in_wait", 0)
        if not seconds:
            return super().get_invalid_login_error()
        minutes = -(-seconds // 60)
        message = ngettext(
            "Too many sign-ins failed from here. Try again in %(n)d minute: until then no password is looked at.",
            "Too many sign-ins failed from here. Try again in %(n)d minutes: until then no password is looked at.",
            minutes,
        )
        return ValidationError(message % {"n": minutes}, code="too_many")


class OperatorSignInForm(SignInForm, AdminAuthenticationForm):
    """The same for Django's admin, which lets operators in alone."""


# Days; a token ends some day, so that one which is forgotten does not open things for good.
LIFETIMES = [(7, _("a week")), (30, _("30 days")), (90, _("90 days")), (365, _("a year"))]


class TokenForm(forms.Form):
    """What a new token is for."""

    name = forms.CharField(label=_("Name"), max_length=100, help_text=_("What it is for: the name of a script, say."))
    lasts = forms.TypedChoiceField(label=_("Ends after"), choices=LIFETIMES, coerce=int, initial=90)
    scopes = forms.MultipleChoiceField(
        label=_("What it may be used for"),
        choices=[(scope.value, scope.means) for scope in Scope if scope != Scope.READ],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("It reads in any case, and never does more than your own role in a study."),
    )
    studies = forms.ModelMultipleChoiceField(
        label=_("Where"),
        queryset=Study.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen: in all your studies, those to come too."),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["studies"].queryset = Study.objects.for_user(user).order_by("title", "id")  # type: ignore[attr-defined]

    @property
    def order(self) -> dict[str, Any]:
        """What `tokens.issue` is told."""
        chosen = self.cleaned_data
        return {
            "name": chosen["name"],
            "lasts": timedelta(days=chosen["lasts"]),
            "scopes": [Scope(value) for value in chosen["scopes"]],
            "studies": list(chosen["studies"]) or None,
        }
