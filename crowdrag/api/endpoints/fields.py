"""Fields of what is shown and read."""

from typing import Any

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from crowdrag.studies.enums import Role


@extend_schema_field({"type": "string", "enum": Role.names})
class RoleField(serializers.Field[Any, Any, Any, Any]):
    """A role by its name, as `VIEWER`."""

    default_error_messages = {"unknown": _("One of {roles}.")}

    def to_representation(self, value: Any) -> str:
        """Return its name."""
        return Role(value).name

    def to_internal_value(self, data: Any) -> Role:
        """Return the role of this name."""
        if not isinstance(data, str) or data not in Role.names:
            self.fail("unknown", roles=", ".join(Role.names))
        return Role[data]


class _TrueOrFalseField(forms.NullBooleanField):
    widget = forms.TextInput

    def to_python(self, value: Any) -> bool | None:  # type: ignore[override] # of NullBooleanField it is
        """Return what was said; None where nothing was."""
        if value in (None, ""):
            return None
        if value not in ("true", "false"):
            raise ValidationError(_("Either true or false."), code="invalid")
        return bool(value == "true")


class TrueOrFalse(django_filters.BooleanFilter):  # type: ignore[misc] # it comes without types
    """Filters by yes or no. The library's own takes what it does not know for no filter, and gives everything."""

    field_class = _TrueOrFalseField


class Whole(django_filters.NumberFilter):  # type: ignore[misc] # it comes without types
    """Filters by a whole number. The library's own takes any decimal."""

    field_class = forms.IntegerField
