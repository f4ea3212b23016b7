"""Forms of payments."""

import uuid
from typing import Any

from django import forms

from .enums import PaymentMethod
from .services import LONGEST_REFERENCE


class PaymentListForm(forms.Form):
    """The participants of a new list, and the payment method."""

    method = forms.ChoiceField(label="Pay by", choices=PaymentMethod.choices)
    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)
    participant = forms.TypedMultipleChoiceField(coerce=int, required=False)

    def __init__(self, *args: Any, owed: list[int], **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["participant"].choices = [(key, key) for key in owed]  # type: ignore[attr-defined]


class ReferenceForm(forms.Form):
    """The reference under which a list was paid."""

    reference = forms.CharField(
        label="Reference",
        max_length=LONGEST_REFERENCE,
        help_text="The number of the transfer or of the bulk payment, so that you can find it again.",
    )
