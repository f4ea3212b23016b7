"""Fields of what is shown and read."""

from typing import Any

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
