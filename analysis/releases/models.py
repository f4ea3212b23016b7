"""A numbered version of a study that others download: its files, tables, people and private links."""

import operator
from collections.abc import Iterable
from datetime import datetime
from functools import reduce

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, Study

from ..enums import PUBLIC_RELEASES, RELEASE_MOVES, SERVED_RELEASES, ReleaseState

PUBLIC = [str(state) for state in PUBLIC_RELEASES]
#: Fields that never change after publication. The others record later events.
FROZEN = (
    *("study", "number", "title", "description", "creators", "doi", "notes", "choices", "run"),
    *("figures", "left_out", "digest", "schema_version", "built_at", "published_at"),
)


def _any_changes(fields: Iterable[str]) -> pgtrigger.Q:
    changes = (pgtrigger.Q(**{f"old__{field}__df": pgtrigger.F(f"new__{field}")}) for field in fields)
    return reduce(operator.or_, changes)


class ReleaseQuerySet(models.QuerySet["Release"]):
    """Queries of releases."""

    def public(self) -> "ReleaseQuerySet":
        """Keep releases with a public page, including withdrawn ones."""
        return self.filter(state__in=PUBLIC)

    def served(self, now: datetime) -> "ReleaseQuerySet":
        """Keep releases whose files are public: published, not withdrawn, not under embargo."""
        over = Q(embargo_until__isnull=True) | Q(embargo_until__lte=now)
        return self.filter(over, state__in=SERVED_RELEASES)

    def newest_first(self) -> "ReleaseQuerySet":
        """Sort as in lists."""
        return self.order_by("-number")

    def holding(self, participant: int) -> "ReleaseQuerySet":
        """Keep releases that contain data of this participant."""
        return self.filter(people__participant=participant)


class Release(models.Model):
    """One version of a study, for publication.

    `choices` define the contents. `figures` and `left_out` are the outcome: numbers of rows, and what was left out and
    why. `digest` is the SHA-256 of the list of all files with their checksums: releases with the same digest are equal.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="releases")
    number = models.PositiveIntegerField("version")
    state = models.CharField("state", max_length=10, choices=ReleaseState.choices, default=ReleaseState.DRAFT)
    title = models.CharField("title", max_length=300)
    description = models.TextField("description", blank=True)
    # Objects with name, affiliation and orcid, as formats.about reads them.
    creators = models.JSONField("creators", default=list, blank=True)
    doi = models.CharField("DOI", max_length=200, blank=True)
    notes = models.TextField("changes", blank=True)
    choices = models.JSONField("content", default=dict, blank=True)
    run = models.ForeignKey(Run, models.RESTRICT, null=True, blank=True, related_name="+")
    figures = models.JSONField(default=dict, blank=True)
    left_out = models.JSONField(default=list, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    schema_version = models.PositiveSmallIntegerField(default=1)
    embargo_until = models.DateTimeField(
        "embargo until",
        null=True,
        blank=True,
        help_text="Before this time, only people with a private link get the files.",
    )
    created_at = models.DateTimeField("created")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    built_at = models.DateTimeField("built", null=True, blank=True)
    published_at = models.DateTimeField("published", null=True, blank=True)
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    # When data of a participant in it were last erased, and of how many participants.
    marked_at = models.DateTimeField("marked", null=True, blank=True)
    erased_participants = models.PositiveIntegerField(default=0)
    withdrawn_at = models.DateTimeField("withdrawn", null=True, blank=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    withdrawn_reason = models.TextField("reason for withdrawal", blank=True)

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="release_number_once_per_study"),
            models.CheckConstraint(condition=Q(number__gte=1), name="release_number_positive"),
            models.CheckConstraint(condition=Q(state__in=ReleaseState.values), name="release_state_known"),
            models.CheckConstraint(condition=~Q(title=""), name="release_has_a_title"),
            models.CheckConstraint(
                condition=Q(doi="") | Q(doi__regex=r"^10\.[0-9]{4,9}/[^\s\"<>]+$"), name="release_doi_is_one"
            ),
            models.CheckConstraint(
                condition=Q(state=ReleaseState.DRAFT) | Q(run__isnull=False), name="release_beyond_a_draft_has_a_run"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[ReleaseState.DRAFT, ReleaseState.BUILDING], built_at__isnull=True, digest="")
                | (
                    ~Q(state__in=[ReleaseState.DRAFT, ReleaseState.BUILDING])
                    & Q(built_at__isnull=False, digest__regex=r"^[0-9a-f]{64}$")
                ),
                name="release_built_goes_with_state",
            ),
            models.CheckConstraint(
                condition=Q(state__in=PUBLIC, published_at__isnull=False)
                | (~Q(state__in=PUBLIC) & Q(published_at__isnull=True)),
                name="release_published_at_goes_with_state",
            ),
            models.CheckConstraint(
                condition=Q(marked_at__isnull=True, erased_participants=0)
                | Q(marked_at__isnull=False, erased_participants__gte=1, state__in=PUBLIC),
                name="release_marked_says_of_how_many",
            ),
            models.CheckConstraint(
                condition=~Q(state=ReleaseState.MARKED) | Q(marked_at__isnull=False), name="release_marked_has_a_time"
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True, withdrawn_reason="") & ~Q(state=ReleaseState.WITHDRAWN)
                | Q(withdrawn_at__isnull=False, state=ReleaseState.WITHDRAWN) & ~Q(withdrawn_reason=""),
                name="release_withdrawn_has_a_reason",
            ),
        ]
        triggers = [
            pgtrigger.FSM(name="state_moves", field="state", transitions=[(str(a), str(b)) for a, b in RELEASE_MOVES]),
            pgtrigger.Protect(
                name="published_never_changes",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__state__in=PUBLIC) & _any_changes(FROZEN),
            ),
            pgtrigger.Protect(
                name="embargo_only_gets_shorter",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__state__in=PUBLIC, new__embargo_until__isnull=False)
                & (
                    pgtrigger.Q(old__embargo_until__isnull=True)
                    | pgtrigger.Q(new__embargo_until__gt=pgtrigger.F("old__embargo_until"))
                ),
            ),
            pgtrigger.Protect(
                name="published_stays", operation=pgtrigger.Delete, condition=pgtrigger.Q(old__state__in=PUBLIC)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study.slug} v{self.number}"


_PUBLIC = ", ".join(f"'{state}'" for state in PUBLIC_RELEASES)
#: Parts can only be added while the release is being built.
ONLY_WHILE_BUILT = """
    PERFORM 1 FROM analysis_release WHERE id = NEW.release_id AND state = 'BUILDING';
    IF NOT FOUND THEN
        RAISE EXCEPTION 'release_parts_come_while_it_is_built' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
"""
#: Parts of published releases cannot be deleted.
NOT_ONCE_PUBLISHED = f"""
    PERFORM 1 FROM analysis_release WHERE id = OLD.release_id AND state IN ({_PUBLIC});
    IF FOUND THEN
        RAISE EXCEPTION 'release_parts_stay_once_published' USING ERRCODE = 'check_violation';
    END IF;
    RETURN OLD;
"""


def parts_stay() -> list[pgtrigger.Trigger]:
    """Return triggers that allow parts to be added or deleted only before the release is published."""
    return [
        pgtrigger.Trigger(
            name="only_while_built", when=pgtrigger.Before, operation=pgtrigger.Insert, func=ONLY_WHILE_BUILT
        ),
        pgtrigger.Trigger(
            name="not_once_published", when=pgtrigger.Before, operation=pgtrigger.Delete, func=NOT_ONCE_PUBLISHED
        ),
    ]


class ReleaseFile(models.Model):
    """One file. If it was removed because of an erasure, name, size and checksum stay.

    `of_people` says that the file may contain data of participants. Other files stay after an erasure.
    """

    release = models.ForeignKey(Release, models.CASCADE, related_name="files")
    path = models.CharField("file", max_length=300)
    about = models.CharField("description", max_length=300, blank=True)
    media_type = models.CharField("type", max_length=100, default="application/octet-stream")
    size = models.BigIntegerField("size")
    sha256 = models.CharField("SHA-256", max_length=64)
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
        """Name of the file for downloads, unique across releases."""
        return f"{self.release.study.slug}-v{self.release.number}-{self.path.replace('/', '-')}"


class ReleaseTable(models.Model):
    """One table. `preview` holds its first rows; an erasure empties it."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="tables")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=100)
    about = models.CharField(max_length=500, blank=True)
    rows = models.BigIntegerField()
    columns = models.JSONField(default=list)
    preview = models.JSONField(default=list, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "name"], name="release_table_name_unique"),
            models.CheckConstraint(condition=models.Q(rows__gte=0), name="release_table_rows_not_negative"),
        ]
        triggers = [
            *parts_stay(),
            pgtrigger.Protect(
                name="never_changes", operation=pgtrigger.Update, condition=pgtrigger.AnyChange(exclude=["preview"])
            ),
            pgtrigger.Protect(
                name="preview_is_only_emptied",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.preview IS DISTINCT FROM NEW.preview AND NEW.preview <> '[]'::jsonb"
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ReleasePerson(models.Model):
    """One participant in one release. This is never released: releases may use new pseudonyms.

    An erasure of the participant deletes the row and marks the release, which counts erased participants.
    """

    release = models.ForeignKey(Release, models.CASCADE, related_name="people")
    participant = models.ForeignKey(Participant, models.CASCADE, related_name="releases")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["release", "participant"], name="release_person_once"),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="only_while_built", when=pgtrigger.Before, operation=pgtrigger.Insert, func=ONLY_WHILE_BUILT
            ),
            pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update),
        ]


class ReleaseLink(models.Model):
    """A private link; its key is shown once and stored as a hash (crowdrag/studies/entry/links.py)."""

    release = models.ForeignKey(Release, models.CASCADE, related_name="links")
    digest = models.BinaryField(max_length=32, unique=True)
    label = models.CharField("recipient", max_length=200, blank=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    expires_at = models.DateTimeField("until")
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField("last used", null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")), name="release_link_expires_later"
            ),
        ]
