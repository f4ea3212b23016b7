import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('analysis', '0001_squashed_0008_release_makers'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='likeness', name='likeness_once_per_pair'),
        migrations.RemoveConstraint(model_name='likeness', name='likeness_lower_first'),
        migrations.RenameModel(old_name='Likeness', new_name='SimilarityScore'),
        migrations.AlterField(
            model_name='similarityscore',
            name='encoder',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='similarity_scores', to='analysis.encoder'),
        ),
        migrations.AddConstraint(
            model_name='similarityscore',
            constraint=models.UniqueConstraint(fields=('encoder', 'first', 'second'), name='similarity_score_once_per_pair'),
        ),
        migrations.AddConstraint(
            model_name='similarityscore',
            constraint=models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='similarity_score_lower_first'),
        ),
    ]
