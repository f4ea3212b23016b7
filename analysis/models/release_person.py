"""Of whom a release holds something: so that it is known what to mark when somebody withdraws."""

import pgtrigger
from django.db import models

from crowdrag.studies.models import Participant

from .release import Release
from .release_file import ONLY_WHILE_BUILT


class ReleasePerson(models.Model):
    """One participant in one release. It never leaves the system: pseudonyms may be fresh in each release.

    The row goes when what the participant gave is erased: the release is marked then, and says of how many.
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
