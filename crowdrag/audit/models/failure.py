"""A sign-in that failed."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class SignInFailure(models.Model):
    """Somebody tried to sign in and could not.

    What was typed is not kept: people type passwords into the wrong field. Of an address that is a user's the user is
    named; `mark` is a keyed hash by which tries at one account are counted, whether there is one or not.
    """

    at = models.DateTimeField(_("when"))
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    mark = models.CharField(_("account"), max_length=64)
    address = models.GenericIPAddressField(_("from"), null=True)
    # Not even tried: there had been too many.
    was_refused = models.BooleanField(_("refused unseen"), default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(mark__regex=r"^[0-9a-f]{64}$"), name="sign_in_failure_mark_is_a_hash"
            ),
        ]
        indexes = [
            models.Index(fields=["mark", "address", "-at"], name="sign_in_failure_of_pair"),
            models.Index(fields=["address", "-at"], name="sign_in_failure_of_address"),
            models.Index(fields=["-at", "-id"], name="sign_in_failure_newest"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"
