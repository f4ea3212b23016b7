"""Forms of a study and its members."""

from datetime import timedelta
from typing import Any, Final

from django import forms

from .. import codes, money
from ..enums import Role
from .invitations import LIFETIMES
from .models import Study, User

_ABOUT_RESEARCHERS: Final = ("researchers", "contact", "payment", "retention")
_LONG_TEXTS: Final = {name: forms.Textarea(attrs={"rows": 3}) for name in ("payment", "retention")}


class StudyForm(forms.ModelForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """Fields of a new study. `by` is the researcher who creates it: their name and address are filled in."""

    # Entered in major units and stored in minor ones, which depend on the currency field.
    llm_budget = forms.DecimalField(
        label="Model budget",
        required=False,
        min_value=0,
        max_value=1_000_000_000,
        help_text=(
            "Maximum total cost of language models in the study's currency, for example 25.00. Leave empty to "
            "use free models only."
        ),
    )

    # Without a maximum length, so that browsers do not cut "euro" to "eur".
    currency = forms.CharField(label="Currency", initial="USD")

    class Meta:
        model = Study
        fields = [
            "title", "slug", "description", *_ABOUT_RESEARCHERS, "language", "text_licence", "currency", "llm_budget",
        ]  # fmt: skip
        # Filled while the title is typed (static/js/ui/short-names.js).
        widgets = {
            "slug": forms.TextInput(attrs={"data-short-name-of": "id_title", "autocapitalize": "none"}),
            "description": forms.Textarea(attrs={"rows": 2}),
            **_LONG_TEXTS,
        }
        error_messages = {
            "slug": {
                "invalid": "Use only the letters a to z, digits, hyphens and underscores.",
                "unique": "Another study has this short name. Choose another one.",
            }
        }

    def __init__(self, *args: Any, by: User | None = None, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if by is not None:
            self.fields["researchers"].initial, self.fields["contact"].initial = by.name, by.email

    def clean_currency(self) -> str:
        """Return the code in capital letters; quote it as it was typed if it is not known."""
        code: str = self.cleaned_data["currency"]
        codes.validate_currency(code.upper() if code.upper() in codes.known("currencies") else code)
        return code.upper()

    def clean(self) -> dict[str, Any]:
        """Convert the budget to minor units."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if (budget := cleaned.get("llm_budget")) is not None and (currency := cleaned.get("currency")):
            try:
                cleaned["llm_budget"] = money.to_minor(budget, currency)
            except money.TooFineError:
                self.add_error(
                    "llm_budget",
                    f"Enter at most {money.minor_digits(currency)} decimal places.",
                )
        return cleaned


class AboutForm(forms.ModelForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """The description of a study and of its researchers, which can be changed at any time."""

    class Meta:
        model = Study
        fields = ["title", "description", *_ABOUT_RESEARCHERS]
        widgets = _LONG_TEXTS


class DeleteForm(forms.Form):
    """The confirmation of a deletion."""

    confirmation = forms.CharField(label="Short name of the study", max_length=80)


class InvitationForm(forms.Form):
    """The email address, role and validity of an invitation."""

    email = forms.EmailField(
        label="Email address",
        required=False,
        max_length=254,
        help_text="We send the link there. Leave empty to get a link that you send yourself.",
    )
    role = forms.TypedChoiceField(
        label="Role", choices=Role.choices, coerce=lambda value: Role(int(value)), initial=Role.REVIEWER
    )
    lasts = forms.TypedChoiceField(label="Expires after", choices=list(LIFETIMES.items()), coerce=int, initial=7)

    @property
    def order(self) -> dict[str, Any]:
        """Return the arguments of `invitations.invite`."""
        chosen = self.cleaned_data
        return {"email": chosen["email"], "role": chosen["role"], "lasts": timedelta(days=chosen["lasts"])}


class MemberForm(forms.Form):
    """A user and their role."""

    email = forms.EmailField(label="Email address", help_text="The person must already have an account here.")
    role = forms.TypedChoiceField(
        label="Role", choices=Role.choices, coerce=lambda value: Role(int(value)), initial=Role.VIEWER
    )

    user: User

    def clean_email(self) -> str:
        """Find the user with this address."""
        email: str = self.cleaned_data["email"]
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise forms.ValidationError("No account has this email address. Invite the person instead.")
        self.user = user
        return email
