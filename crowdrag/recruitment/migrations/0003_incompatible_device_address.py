"""People on a device that a study cannot use are led back with the code that the platform was told of."""

from django.db import migrations

from crowdrag.recruitment import completion_codes


def add_address(apps, _schema_editor):
    """Add the address to the links of studies that were made before people were led there."""
    for study in apps.get_model("recruitment", "PlatformStudy").objects.select_related("link"):
        if completion_codes.BAD_DEVICE in study.codes:
            study.link.completion |= {"BAD_DEVICE": completion_codes.completion_url(study.codes[completion_codes.BAD_DEVICE])}
            study.link.save(update_fields=["completion"])


class Migration(migrations.Migration):
    beside_earlier = "It adds an address to links that the earlier release does not read."

    dependencies = [("recruitment", "0001_squashed_0002_attempt")]

    operations = [migrations.RunPython(add_address, migrations.RunPython.noop)]
