import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('operations', '0001_machines_backups_removals')]

    initial = True

    dependencies = [
        ('studies', '0001_squashed_0004_bar'),
    ]

    operations = [
        migrations.CreateModel(
            name='Backup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('BACKUP', 'backup'), ('DRILL', 'restore drill')], max_length=10, verbose_name='what')),
                ('at', models.DateTimeField(verbose_name='when')),
                ('file', models.CharField(max_length=255, verbose_name='file')),
                ('made_at', models.DateTimeField(blank=True, null=True, verbose_name='made')),
                ('size', models.BigIntegerField(default=0, verbose_name='bytes')),
                ('rows', models.BigIntegerField(default=0, verbose_name='rows')),
                ('files', models.BigIntegerField(default=0, verbose_name='files')),
                ('seconds', models.FloatField(default=0, verbose_name='seconds')),
                ('is_good', models.BooleanField(verbose_name='good')),
                ('said', models.TextField(blank=True, verbose_name='what was found')),
            ],
            options={
                'indexes': [models.Index(fields=['kind', '-at'], name='backup_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['BACKUP', 'DRILL'])), name='backup_kind_known'), models.CheckConstraint(condition=models.Q(('file', ''), _negated=True), name='backup_file_not_empty'), models.CheckConstraint(condition=models.Q(('files__gte', 0), ('rows__gte', 0), ('seconds__gte', 0), ('size__gte', 0)), name='backup_figures_not_negative'), models.CheckConstraint(condition=models.Q(('is_good', True), models.Q(('said', ''), _negated=True), _connector='OR'), name='backup_bad_says_why')],
            },
        ),
        migrations.CreateModel(
            name='Machine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200, unique=True, verbose_name='machine')),
                ('at', models.DateTimeField(verbose_name='heard of')),
                ('facts', models.JSONField(default=dict)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='machine_name_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='Removal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(verbose_name='when')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('rule', models.CharField(max_length=40, verbose_name='rule')),
                ('study_slug', models.CharField(blank=True, max_length=80, verbose_name='study')),
                ('rows', models.JSONField(default=dict, verbose_name='rows by table')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('rule', ''), _negated=True), name='removal_rule_not_empty')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='removal',
            trigger=pgtrigger.compiler.Trigger(name='written_once', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='fa045da1988287999ebd6462ddfa9d6165928698', operation='UPDATE OR DELETE', pgid='pgtrigger_written_once_17793', table='operations_removal', when='BEFORE')),
        ),
    ]
