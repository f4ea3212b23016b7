"""Runs say themselves that their input was refused for good: until now that was read off their problems."""

from django.conf import settings
from django.db import migrations, models


def mark_rejected(apps, _schema_editor):
    """Mark the failed runs whose problems lie in a file."""
    run = apps.get_model("runs", "Run")
    failed = run.objects.filter(state="FAILED").exclude(problems=[]).values_list("pk", "problems")
    rejected = [pk for pk, problems in failed.iterator() if any(problem.get("file") for problem in problems)]
    run.objects.filter(pk__in=rejected).update(is_rejected=True)


class Migration(migrations.Migration):
    beside_earlier = "The column has a default, which the constraint allows; the earlier release does not read it."

    dependencies = [
        ("runs", "0001_squashed_0003_unit_stage"),
        ("studies", "0006_erasure_requested"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="is_rejected",
            field=models.BooleanField(
                db_default=False, default=False, verbose_name="whether its input was refused for good"
            ),
        ),
        migrations.RunPython(mark_rejected, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("is_rejected", False), ("state", "FAILED"), _connector="OR"),
                name="run_rejected_failed",
            ),
        ),
    ]
