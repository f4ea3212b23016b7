"""A file of a release: what it is for good, and whether it is still given out."""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from ..enums import PUBLIC_RELEASES
from .release import Release

_PUBLIC = ", ".join(f"'{state}'" for state in PUBLIC_RELEASES)
#: Parts come in while the release is being built, and at no other time.
ONLY_WHILE_BUILT = """
    PERFORM 1 FROM analysis_release WHERE id = NEW.release_id AND state = 'BUILDING';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'release_parts_come_while_it_is_built' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
"""
#: And what was published stays listed.
NOT_ONCE_PUBLISHED = f"""
    PERFORM 1 FROM analysis_release WHERE id = OLD.release_id AND state IN ({_PUBLIC});
    IF FOUND THEN
        RAISE EXCEPTION 'release_parts_stay_once_published' USING ERRCODE = 'check_violation';
    END IF;
    RETURN OLD;
"""


def parts_stay() -> list[pgtrigger.Trigger]:
    """Return the triggers that let parts of a release come and go only before it is published."""
    return [
        pgtrigger.Trigger(
            name="only_while_built", when=pgtrigger.Before, operation=pgtrigger.Insert, func=ONLY_WHILE_BUILT
        ),
        pgtrigger.Trigger(
            name="not_once_published", when=pgtrigger.Before, operation=pgtrigger.Delete, func=NOT_ONCE_PUBLISHED
        ),
    ]


class ReleaseFile(models.Model):
    """One file. Of one that was taken out, because it held what was withdrawn, name, size and sum stay.

    `of_people` says that it may hold something that a participant gave. What holds none of that stays when somebody
    has theirs erased.
    """

    release = models.ForeignKey(Release, models.CASCADE, related_name="files")
    path = models.CharField(_("file"), max_length=300)
    about = models.CharField(_("what it is"), max_length=300, blank=True)
    media_type = models.CharField(_("type"), max_length=100, default="application/octet-stream")
    size = models.BigIntegerField(_("size"))
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    of_people = models.BooleanField(default=True)
    file = models.FileField(max_length=500, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "path"], name="release_file_path_unique"),
            models.CheckConstraint(
                condition=Q(path__regex=r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$"),
                name="release_file_path_is_plain",
            ),
            models.CheckConstraint(condition=Q(size__gte=0), name="release_file_size_not_negative"),
            models.CheckConstraint(condition=Q(sha256__regex=r"^[0-9a-f]{64}$"), name="release_file_sha256_is_one"),
            models.CheckConstraint(
                condition=Q(removed_at__isnull=True) & ~Q(file="") | Q(removed_at__isnull=False, file=""),
                name="release_file_is_there_or_removed",
            ),
        ]
        triggers = [
            *parts_stay(),
            pgtrigger.Protect(
                name="never_changes",
                operation=pgtrigger.Update,
                condition=pgtrigger.AnyChange(exclude=["file", "removed_at"]),
            ),
            pgtrigger.Protect(
                name="removed_stays_removed",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__removed_at__isnull=False)
                | pgtrigger.Q(new__removed_at__isnull=True, old__file__df=pgtrigger.F("new__file")),
            ),
        ]

    def __str__(self) -> str:
        return self.path

    @property
    def download_name(self) -> str:
        """What the file is called where it is saved, beside those of other releases."""
        return f"{self.release.study.slug}-v{self.release.number}-{self.path.replace('/', '-')}"
