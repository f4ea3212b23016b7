"""Rename the verdict on a pair as it is: a field called clean would stand in for the model's own method."""

from django.db import migrations


class Migration(migrations.Migration):
    """Rename both, with the fence and without."""

    dependencies = [("annotation", "0003_model_judges")]

    operations = [
        migrations.RenameField("injectiontrial", "clean", "plain"),
        migrations.RenameField("injectiontrial", "bare_clean", "bare_plain"),
    ]
