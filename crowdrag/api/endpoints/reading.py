"""What comes in and goes out."""

from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
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
            # What comes with files is text throughout.
            if not isinstance(data, QueryDict):
                self._as_described(data)
        return super().to_internal_value(data)

    def _as_described(self, data: dict[Any, Any]) -> None:
        """Refuse what the framework would make another type of: a number is no text, and "1" is no number."""
        wrong: dict[str, list[Any]] = {}
        for name, field in self.fields.items():
            given = data.get(name)
            for kinds, wanted, said in _KINDS:
                if given is not None and isinstance(field, kinds) and not _is(given, wanted):
                    wrong[name] = [said]
                    break
        if wrong:
            raise serializers.ValidationError(wrong, "invalid")


def _is(given: Any, wanted: tuple[type, ...]) -> bool:
    # In JSON true is no number, in Python it is one.
    return isinstance(given, wanted) and (bool in wanted or not isinstance(given, bool))


#: Fields, what JSON gives them, and what is said otherwise. An integer may come as 1.0: JSON knows one kind of number.
_KINDS: tuple[tuple[tuple[type, ...], tuple[type, ...], Any], ...] = (
    (
        (serializers.CharField, serializers.ChoiceField, serializers.DateTimeField, serializers.UUIDField),
        (str,),
        gettext_lazy("Not a text."),
    ),
    ((serializers.IntegerField, serializers.FloatField), (int, float), gettext_lazy("Not a number.")),
    ((serializers.BooleanField,), (bool,), gettext_lazy("Not true or false.")),
)
