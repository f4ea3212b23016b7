"""Forms of studies and people."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from . import ways
from .domain import addresses, enquiring, links, money, platforms
from .enums import EnquiryKind, Outcome, Role
from .models import ConsentText, Study, User


class SignInForm(AuthenticationForm):
    """E-mail address and password; whoever failed too often is told how long to wait."""

    def get_invalid_login_error(self) -> ValidationError:
        """Say that the two do not go together, or that they were not looked at."""
        seconds = getattr(self.request, "sign_in_wait", 0)
        if not seconds:
            return super().get_invalid_login_error()
        minutes = -(-seconds // 60)
        said = ngettext(
            "Too many sign-ins failed from here. Try again in %(n)d minute: until then no password is looked at.",
            "Too many sign-ins failed from here. Try again in %(n)d minutes: until then no password is looked at.",
            minutes,
        )
        return ValidationError(said % {"n": minutes}, code="too_many")


class OperatorSignInForm(SignInForm, AdminAuthenticationForm):
    """The same for Django's admin, which lets operators in alone."""


class StudyForm(forms.ModelForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """What a new study needs."""

    # Entered as people write money, and kept in minor units; which those are depends on the currency beside it.
    llm_budget = forms.DecimalField(
        label=_("Budget for models"),
        required=False,
        min_value=0,
        max_value=1_000_000_000,
        help_text=_(
            "What language models may cost all told, in the study's currency: 25.00. Empty: paid models are refused."
        ),
    )

    class Meta:
        model = Study
        fields = ["title", "slug", "description", "language", "text_licence", "currency", "llm_budget"]
        error_messages = {
            "slug": {
                "invalid": _("Use only the letters a to z, digits, hyphens and underscores."),
                "unique": _("Another study has this short name. Choose another one."),
            }
        }

    def clean(self) -> dict[str, Any]:
        """Turn the budget into minor units."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if (budget := cleaned.get("llm_budget")) is not None and (currency := cleaned.get("currency")):
            try:
                cleaned["llm_budget"] = money.to_minor(budget, currency)
            except money.FineError:
                self.add_error(
                    "llm_budget",
                    _("At most %(digits)d digits after the point.") % {"digits": money.digits(currency)},
                )
        return cleaned


class AboutForm(forms.ModelForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """What can be changed of a study at any time: what it is called, and what people read of those who ask."""

    class Meta:
        model = Study
        fields = ["title", "description", "asked_by", "contact", "payment", "retention"]
        widgets = {name: forms.Textarea(attrs={"rows": 3}) for name in ("payment", "retention")}


class MemberForm(forms.Form):
    """Somebody and their role."""

    email = forms.EmailField(label=_("E-mail address"), help_text=_("Of somebody who has an account here."))
    role = forms.TypedChoiceField(
        label=_("Role"), choices=Role.choices, coerce=lambda value: Role(int(value)), initial=Role.VIEWER
    )

    user: User

    def clean_email(self) -> str:
        """Find whose address it is."""
        email: str = self.cleaned_data["email"]
        found = User.objects.filter(email__iexact=email).first()
        if found is None:
            raise forms.ValidationError(_("Nobody here has this address. An operator makes accounts in the admin."))
        self.user = found
        return email


class KeyForm(forms.Form):
    """Somebody's personal link, pasted."""

    key = forms.CharField(
        label=_("Your personal link or code"),
        max_length=500,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
        help_text=_("The whole link or the code alone, with or without its dashes."),
    )


class ConsentForm(forms.Form):
    """What somebody agrees to. Only what the text names a licence for can be released."""

    agrees = forms.BooleanField(label=_("I have read this, and I take part of my own free will."))
    releases_text = forms.BooleanField(label="")
    releases_log = forms.BooleanField(label="", required=False)
    releases_timing = forms.BooleanField(label="", required=False)

    def __init__(self, text: ConsentText, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        named = {
            "releases_text": (_("What I write may be published under the licence %(licence)s."), text.text_licence),
            "releases_log": (
                _("The record of how I wrote it may be published under the licence %(licence)s."),
                text.log_licence,
            ),
            "releases_timing": (
                _("How long I took, and when, may be published under the licence %(licence)s."),
                text.timing_licence,
            ),
        }
        for name, (label, licence) in named.items():
            if licence:
                self.fields[name].label = label % {"licence": licence}
            else:
                del self.fields[name]


class EnquiryForm(forms.Form):
    """Something asked of the researchers."""

    kind = forms.ChoiceField(label=_("What is it?"), choices=EnquiryKind.choices, initial=EnquiryKind.QUESTION)
    about = forms.RegexField(regex=r"^[\w.:@/+-]{0,200}$", required=False, widget=forms.HiddenInput)
    text = forms.CharField(
        label=_("Your words"),
        max_length=enquiring.LONGEST,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=_("The researchers of this study read it. They see the pseudonym that it gave you, not who you are."),
    )


class AnswerForm(forms.Form):
    """A researcher's answer."""

    text = forms.CharField(label=_("Answer"), max_length=enquiring.LONGEST, widget=forms.Textarea(attrs={"rows": 4}))


class WithdrawForm(forms.Form):
    """Stopping, with or without erasure."""

    choice = forms.ChoiceField(
        label=_("What shall happen?"),
        choices=[
            ("stop", _("I stop taking part; what I gave stays.")),
            ("erase", _("I stop taking part, and what I gave is erased.")),
        ],
        widget=forms.RadioSelect,
    )
    is_sure = forms.BooleanField(label=_("I know that this cannot be undone."))


class LinkForm(forms.Form):
    """What every new link has."""

    purpose = forms.ChoiceField(label=_("For"))
    days = forms.IntegerField(
        label=_("Lets people in for so many days"),
        required=False,
        min_value=1,
        max_value=3650,
        help_text=_("Empty: until you close it. Whoever came in before can always come back."),
    )

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["purpose"].choices = [(way.name, way.label) for way in ways.every(study)]  # type: ignore[attr-defined]

    def expires_at(self, now: datetime) -> datetime | None:
        """Return when the link ends."""
        days = self.cleaned_data["days"]
        return now + timedelta(days=days) if days else None


class PersonalLinksForm(LinkForm):
    """Invitations, one a line."""

    labels = forms.CharField(
        label=_("Whom, one a line"),
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_(
            "For your own use, to tell the invitations apart. It is never exported; best avoid names and addresses."
        ),
    )
    field_order = ["labels", "purpose", "days"]

    def clean_labels(self) -> list[str]:
        """Split into lines."""
        found = [line.strip() for line in self.cleaned_data["labels"].splitlines() if line.strip()]
        if not found:
            raise forms.ValidationError(_("Name at least one."))
        if len(found) > links.MOST_AT_ONCE:
            raise forms.ValidationError(_("At most %(most)d at once."), params={"most": links.MOST_AT_ONCE})
        if any(len(label) > links.LONGEST_LABEL for label in found):
            raise forms.ValidationError(
                _("A line is longer than %(most)d characters."), params={"most": links.LONGEST_LABEL}
            )
        return found


class OpenLinkForm(LinkForm):
    """A link for whoever has it."""

    label = forms.CharField(label=_("Name"), max_length=links.LONGEST_LABEL, help_text=_("For your own use."))
    field_order = ["label", "purpose", "days"]


class PlatformLinkForm(OpenLinkForm):
    """A link for a recruitment platform."""

    platform = forms.SlugField(label=_("Platform"), max_length=30, initial="prolific")
    participant = forms.CharField(label=_("Its parameter with the participant's id"), max_length=50)
    study = forms.CharField(label=_("With its own study's id"), max_length=50, required=False)
    session = forms.CharField(label=_("With the session's id"), max_length=50, required=False)
    field_order = ["label", "platform", "participant", "study", "session"]

    def __init__(self, study: Study, *args: Any, **kwargs: Any):
        super().__init__(study, *args, **kwargs)
        for role, name in platforms.PRESETS["prolific"].items():
            self.fields[role].initial = name
        for outcome in Outcome:
            self.fields[f"end_{outcome}"] = forms.CharField(
                label=_("Where people go who %(outcome)s") % {"outcome": outcome.label},
                required=False,
                max_length=addresses.LONGEST,
                widget=forms.URLInput(attrs={"placeholder": "https://"}),
            )
        self.order_fields([*self.field_order, *(f"end_{outcome}" for outcome in Outcome), "purpose", "days"])

    def clean(self) -> dict[str, Any]:
        """Check the parameters' names and the addresses."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for role in platforms.ROLES:
            if (name := cleaned.get(role)) and not platforms.PARAMETER.fullmatch(name):
                self.add_error(role, _("Letters, digits, dots, dashes and underscores only."))
        named = [cleaned[role] for role in platforms.ROLES if cleaned.get(role)]
        if len(set(named)) < len(named):
            self.add_error(None, _("Two parameters have the same name."))
        for field, address in self._ends(cleaned):
            try:
                cleaned[field] = addresses.checked(address)
            except addresses.AddressError as error:
                self.add_error(field, str(error))
        return cleaned

    def parameters(self) -> dict[str, str]:
        """Return the platform's names by what they are for."""
        return {role: self.cleaned_data[role] for role in platforms.ROLES if self.cleaned_data[role]}

    def completion(self) -> dict[str, str]:
        """Return the addresses by outcome."""
        return {field.removeprefix("end_"): address for field, address in self._ends(self.cleaned_data)}

    def _ends(self, cleaned: dict[str, Any]) -> Iterable[tuple[str, str]]:
        names = [f"end_{outcome}" for outcome in Outcome]
        return [(name, cleaned[name]) for name in names if cleaned.get(name)]


class AmountField(forms.DecimalField):
    """An amount in the currency's major units; cleaned to minor ones."""

    def __init__(self, **options: Any):
        super().__init__(min_value=Decimal(0), max_digits=12, **options)
        self.currency = "USD"

    def of(self, currency: str) -> None:
        """Say which currency is meant."""
        self.currency = currency
        self.label = f"{self.label} ({currency})"

    def clean(self, value: Any) -> int | None:
        """Return minor units."""
        amount = super().clean(value)
        if amount is None:
            return None
        try:
            return money.to_minor(amount, self.currency)
        except money.FineError as error:
            raise forms.ValidationError(str(error)) from error


def typed(form: forms.Form | None) -> list[tuple[str, str]]:
    """Return what somebody typed into a form's texts, with each label: what must not be lost when it is refused."""
    if form is None or not form.is_bound:
        return []
    texts = [field for field in form if isinstance(field.field.widget, forms.Textarea)]
    return [(str(field.label), str(field.value())) for field in texts if field.value()]


def resent(data: QueryDict) -> list[tuple[str, str]]:
    """Return all that a form sent, to be sent along with another one."""
    return [
        (name, value) for name in data if name not in {"csrfmiddlewaretoken", "over"} for value in data.getlist(name)
    ]
