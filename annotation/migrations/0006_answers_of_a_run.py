from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """A page of a run's answers is found in their order."""

    atomic = False
    dependencies = [("annotation", "0001_squashed_0005_free_places")]

    operations = [
        AddIndexConcurrently(
            model_name="judginganswer",
            index=models.Index(fields=["run", "id"], name="judging_answer_of_run"),
        ),
    ]
