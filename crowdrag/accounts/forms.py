"""Forms to sign in, to create a token, and for operators to manage accounts."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm, BaseUserCreationForm, SetPasswordMixin
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

    def __init__(self, *args: Any, email: str = "", initial: dict[str, Any] | None = None, **kwargs: Any):
        super().__init__(*args, initial={"email": email, **(initial or {})}, **kwargs)
        self.fields["email"].disabled = bool(email)
        self.fields["name"].required = True
        self.fields["name"].help_text = "Members of the study see your name."
        self.fields["email"].widget.attrs["autocomplete"] = "username"


# The rules of the settings, said of somebody else's password.
PASSWORD_RULES = "At least 8 characters. Not only digits, not common, and not similar to the name or address."  # noqa: S105


class NewUserForm(AccountForm):
    """A new account that an operator makes for somebody."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["email"].help_text = "The person signs in with this address."
        self.fields["name"].help_text = "Members of the same studies see the name."
        self.fields["password1"].help_text = PASSWORD_RULES
        self.fields["password2"].label, self.fields["password2"].help_text = "Password again", ""


class UserForm(forms.ModelForm):  # type: ignore[type-arg]
    """What operators change in an account. They cannot lock themselves out: another operator must do that."""

    #: Whether it is the account of the operator who changes it.
    is_own = False
    is_operator = forms.BooleanField(
        label="Operator",
        required=False,
        help_text="Operators see every study and can do everything in it. They also manage this server and all "
        "accounts. Everyone else has a role in each study, which its owners set.",
    )

    class Meta:
        model = User
        fields = ["email", "name", "is_active"]
        labels = {"is_active": "Active"}
        help_texts = {
            "email": "The person signs in with this address.",
            "name": "Members of the same studies see the name.",
            "is_active": "If you untick this, the person is signed out, all their API tokens are revoked, and they "
            "cannot sign in until you tick it again. Their roles in studies are kept.",
        }

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["is_operator"].initial = self.instance.is_staff or self.instance.is_superuser
        if self.is_own:
            for name in ("is_active", "is_operator"):
                self.fields[name].disabled = True
                self.fields[name].help_text = "You cannot change this in your own account. Ask another operator."

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if "is_operator" in self.changed_data:
            self.instance.is_staff = self.instance.is_superuser = self.cleaned_data["is_operator"]


class NewPasswordForm(SetPasswordMixin, forms.Form):  # type: ignore[type-arg] # not generic at run time
    """A new password that an operator sets for somebody."""

    password1, password2 = SetPasswordMixin.create_password_fields("New password", "New password again")

    def __init__(self, user: User, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.user = user
        self.fields["password1"].help_text, self.fields["password2"].help_text = PASSWORD_RULES, ""

    def clean(self) -> dict[str, Any]:
        """Check both passwords."""
        self.validate_passwords()
        self.validate_password_for_user(self.user)
        # Django's page of the administration asks for this.
        return {**self.cleaned_data, "set_usable_password": True}

    def save(self, commit: bool = True) -> User:
        """Set the password."""
        user: User = self.set_password_and_save(self.user, commit=commit)
        return user

    @property
    def changed_data(self) -> list[str]:
        """The name of the field as it is recorded in the history."""
        return ["password"] if super().changed_data else []


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
