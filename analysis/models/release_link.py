"""A private link to a release: for reviewers of a paper, say, before anybody else gets the files."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from .release import Release


class ReleaseLink(models.Model):
    """One link: its key is shown once and kept as a hash (crowdrag/studies/entry/links.py)."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="links")
    digest = models.BinaryField(max_length=32, unique=True)
    label = models.CharField(_("for whom"), max_length=200, blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    expires_at = models.DateTimeField(_("until"))
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(_("last used"), null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")), name="release_link_expires_later"
            ),
        ]
