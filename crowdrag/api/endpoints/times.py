"""Date-times in addresses: any of them, within what the database can hold."""

from datetime import UTC, datetime
from typing import Any

import django_filters
from django.forms import ValidationError
from django.utils.translation import gettext as _
from django_filters.fields import IsoDateTimeField


class TimeField(IsoDateTimeField):  # type: ignore[misc] # without types
    """A date-time in UTC, since the database knows fewer offsets than ISO 8601."""

    def to_python(self, value: Any) -> Any:
        """Return the moment, or refuse what cannot be one."""
        try:
            found = super().to_python(value)
            return found.astimezone(UTC) if isinstance(found, datetime) else found
        except (OverflowError, ValueError) as error:
            raise ValidationError(_("This is outside of the years 1 to 9999."), code="invalid") from error


class TimeFilter(django_filters.IsoDateTimeFilter):  # type: ignore[misc] # without types
    """A filter by a date-time."""

    field_class = TimeField
