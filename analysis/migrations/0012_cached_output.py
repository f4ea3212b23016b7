import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('analysis', '0011_personal_data_finding'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='generation', name='generation_digest_is_sha256'),
        migrations.RenameModel(old_name='Generation', new_name='CachedOutput'),
        migrations.AlterField(
            model_name='cachedoutput',
            name='study',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='cached_outputs', to='studies.study'),
        ),
        migrations.AddConstraint(
            model_name='cachedoutput',
            constraint=models.CheckConstraint(condition=models.Q(('digest__regex', '^[0-9a-f]{64}$')), name='cached_output_digest_is_sha256'),
        ),
    ]
