"""Forms of the API's pages."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study, User

from .enums import Scope

# Days; a token ends some day, so that one which is forgotten does not open things for good.
LASTS = [(7, _("a week")), (30, _("30 days")), (90, _("90 days")), (365, _("a year"))]


class TokenForm(forms.Form):
    """What a new token is for."""

    name = forms.CharField(label=_("Name"), max_length=100, help_text=_("What it is for: the name of a script, say."))
    lasts = forms.TypedChoiceField(label=_("Ends after"), choices=LASTS, coerce=int, initial=90)
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
