"""What comes in and goes out."""

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers


class Given(serializers.Serializer[Any]):
    """The body of a request. A field that it does not name is refused, so that none is misspelt in silence."""

    def to_internal_value(self, data: Any) -> Any:
        """Check the names, then the values."""
        if isinstance(data, dict):
            known = {name for name, field in self.fields.items() if not field.read_only}
            if unknown := sorted(str(name) for name in set(data) - known):
                raise serializers.ValidationError(
                    {name: [_("There is no such field here.")] for name in unknown}, "unknown"
                )
        return super().to_internal_value(data)
