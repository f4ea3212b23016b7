from django.db import migrations


class Migration(migrations.Migration):
    # A field called clean would stand in for the model's own method.

    dependencies = [("annotation", "0003_model_judges")]

    operations = [
        migrations.RenameField("injectiontrial", "clean", "plain"),
        migrations.RenameField("injectiontrial", "bare_clean", "bare_plain"),
    ]
