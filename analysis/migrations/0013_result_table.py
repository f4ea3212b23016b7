import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('analysis', '0012_cached_output'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='table',
            name='never_updated',
        ),
        migrations.RemoveConstraint(model_name='table', name='table_once_per_run'),
        migrations.RenameModel(old_name='Table', new_name='ResultTable'),
        migrations.AddConstraint(
            model_name='resulttable',
            constraint=models.UniqueConstraint(fields=('run', 'name'), name='result_table_once_per_run'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='resulttable',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='aeb5d7defd9f9a7b2a5aa1aadd8a63c4afca3b4a', operation='UPDATE', pgid='pgtrigger_never_updated_ebbe7', table='analysis_resulttable', when='BEFORE')),
        ),
    ]
