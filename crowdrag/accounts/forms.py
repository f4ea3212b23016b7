"""Forms of signing in and of making a token."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm, BaseUserCreationForm
from django.core.exceptions import ValidationError

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
        message = (
            "Too many failed sign-ins from your address. Try again in %(n)d minute. Until then, no password is "
            "accepted."
            if minutes == 1
            else "Too many failed sign-ins from your address. Try again in %(n)d minutes. Until then, no password is "
            "accepted."
        )
        return ValidationError(message % {"n": minutes}, code="too_many")


class OperatorSignInForm(SignInForm, AdminAuthenticationForm):
    """The same for Django's admin, which lets operators in alone."""


class AccountForm(BaseUserCreationForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """A new account. An invitation to an address makes an account with this address."""

    class Meta:
        model = User
        fields = ["email", "name"]

    def __init__(self, *args: Any, email: str = "", **kwargs: Any):
        super().__init__(*args, initial={"email": email}, **kwargs)
        self.fields["email"].disabled = bool(email)
        self.fields["name"].required = True
        self.fields["name"].help_text = "Members of the study see your name."
        self.fields["email"].widget.attrs["autocomplete"] = "username"


# Days; a token ends some day, so that one which is forgotten does not open things for good.
LIFETIMES = [(7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "1 year")]


def study_choice(study: Study) -> str:
    """A study by its title, and by the name in its address, which differs where titles are the same."""
    return f"{study.title} ({study.slug})"


class TokenForm(forms.Form):
    """What a new token is for."""

    name = forms.CharField(
        label="Name", max_length=100, help_text="What you use the token for, such as the name of a script."
    )
    lasts = forms.TypedChoiceField(label="Expires after", choices=LIFETIMES, coerce=int, initial=90)
    scopes = forms.MultipleChoiceField(
        label="Scopes",
        choices=[(scope.value, scope.means) for scope in Scope if scope != Scope.READ],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Every token can read. A token never allows more than your own role in a study.",
    )
    studies = forms.ModelMultipleChoiceField(
        label="Studies",
        queryset=Study.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="If you select none, the token works for all your studies, including future ones.",
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["studies"].queryset = Study.objects.for_user(user).order_by("title", "id")  # type: ignore[attr-defined]
        self.fields["studies"].label_from_instance = study_choice  # type: ignore[attr-defined]

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
