from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("api", "0001_squashed_0001_tokens"),
    ]

    operations = [
        migrations.AddField(
            model_name="apitoken",
            name="password_mark",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=64),
        ),
    ]
