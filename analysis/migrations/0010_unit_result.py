import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('analysis', '0009_similarity_score'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='finding',
            name='never_updated',
        ),
        migrations.RemoveConstraint(model_name='finding', name='finding_once_per_key'),
        migrations.RenameModel(old_name='Finding', new_name='UnitResult'),
        migrations.AlterField(
            model_name='unitresult',
            name='run',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='unit_results', to='runs.run'),
        ),
        migrations.AddConstraint(
            model_name='unitresult',
            constraint=models.UniqueConstraint(fields=('run', 'key'), name='unit_result_once_per_key'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='unitresult',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='100223cb06755ebe6350bac0e90f1185c775ccb1', operation='UPDATE', pgid='pgtrigger_never_updated_05bfa', table='analysis_unitresult', when='BEFORE')),
        ),
    ]
