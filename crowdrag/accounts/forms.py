"""Forms to sign in and to create a token."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm, BaseUserCreationForm
from django.core.exceptions import ValidationError

from crowdrag.studies.models import Study, User

from .enums import Scope


class SignInForm(AuthenticationForm):
    """Email address and password; after too many failures, the error says how long to wait."""

    def get_invalid_login_error(self) -> ValidationError:
        """Return the error: wrong address or password, or not checked after too many failures."""
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
    """The same for Django's admin, which admits only operators."""


class AccountForm(BaseUserCreationForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """A new account. An invitation to an address creates an account with this address."""

    class Meta:
        model = User
        fields = ["email", "name"]

    def __init__(self, *args: Any, email: str = "", **kwargs: Any):
        super().__init__(*args, initial={"email": email}, **kwargs)
        self.fields["email"].disabled = bool(email)
        self.fields["name"].required = True
        self.fields["name"].help_text = "Members of the study see your name."
        self.fields["email"].widget.attrs["autocomplete"] = "username"


# In days; every token expires, so that a forgotten one does not give access for ever.
LIFETIMES = [(7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "1 year")]


def study_choice(study: Study) -> str:
    """Return a study's title and short name, since titles may be the same."""
    return f"{study.title} ({study.slug})"


class TokenForm(forms.Form):
    """The name, scopes, studies and lifetime of a new token."""

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
        """Return the arguments of `tokens.issue`."""
        chosen = self.cleaned_data
        return {
            "name": chosen["name"],
            "lasts": timedelta(days=chosen["lasts"]),
            "scopes": [Scope(value) for value in chosen["scopes"]],
            "studies": list(chosen["studies"]) or None,
        }
