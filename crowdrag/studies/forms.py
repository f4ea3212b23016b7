"""Forms of studies and people."""

from django import forms
from django.utils.translation import gettext_lazy as _

from .enums import Role
from .models import Study, User


class StudyForm(forms.ModelForm):  # type: ignore[type-arg] # the stubs' argument is none at run time
    """What a new study needs."""

    class Meta:
        model = Study
        fields = ["title", "slug", "description", "language", "text_licence", "currency", "llm_budget"]
        help_texts = {
            "llm_budget": _(
                "What language models may cost all told, in minor units (cents). Empty: paid models are refused."
            ),
        }


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
