import django.core.serializers.json
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('runs', '0001_initial'), ('runs', '0002_duty'), ('runs', '0003_unit_stage')]

    initial = True

    dependencies = [
        ('studies', '0001_squashed_0004_bar'),
    ]

    operations = [
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='studies.study')),
                ('kind', models.CharField(max_length=100, verbose_name='kind')),
                ('queue', models.CharField(choices=[('default', 'default'), ('llm', 'language models'), ('gpu', 'GPU')], default='default', max_length=20, verbose_name='queue')),
                ('state', models.CharField(choices=[('PLANNED', 'planned'), ('RUNNING', 'running'), ('DONE', 'done'), ('FAILED', 'failed'), ('CANCELLED', 'cancelled')], default='PLANNED', max_length=10, verbose_name='state')),
                ('parameters', models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder, verbose_name='parameters')),
                ('seed', models.BigIntegerField(default=0, verbose_name='seed')),
                ('inputs_digest', models.CharField(blank=True, max_length=128, verbose_name='inputs digest')),
                ('code_version', models.CharField(max_length=200, verbose_name='code version')),
                ('environment', models.JSONField(blank=True, default=dict, verbose_name='environment')),
                ('error', models.TextField(blank=True, verbose_name='why it failed')),
                ('problems', models.JSONField(blank=True, default=list, encoder=django.core.serializers.json.DjangoJSONEncoder, verbose_name='problems of the input')),
                ('summary', models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder, verbose_name='summary')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('started_at', models.DateTimeField(blank=True, null=True, verbose_name='started')),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='finished')),
                ('cancelled_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('resumed_at', models.DateTimeField(blank=True, null=True, verbose_name='resumed')),
                ('resumed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('stale_at', models.DateTimeField(blank=True, null=True, verbose_name='inputs changed')),
                ('stale_reason', models.TextField(blank=True, verbose_name='how the inputs changed')),
            ],
            options={
                'indexes': [models.Index(fields=['study', '-created_at', '-id'], name='run_newest_of_study'), models.Index(condition=models.Q(('state__in', ('PLANNED', 'RUNNING'))), fields=['queue'], name='run_active_by_queue')],
                'constraints': [models.UniqueConstraint(fields=('key',), name='run_key_unique'), models.CheckConstraint(condition=models.Q(('state__in', ['PLANNED', 'RUNNING', 'DONE', 'FAILED', 'CANCELLED'])), name='run_state_known'), models.CheckConstraint(condition=models.Q(('queue__in', ['default', 'llm', 'gpu'])), name='run_queue_known'), models.CheckConstraint(condition=models.Q(('kind', ''), _negated=True), name='run_kind_not_empty'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ('PLANNED', 'RUNNING'))), models.Q(models.Q(('state__in', ('PLANNED', 'RUNNING')), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='run_finished_at_goes_with_state'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'RUNNING'), _negated=True), ('started_at__isnull', False), _connector='OR'), name='run_running_has_started'), models.CheckConstraint(condition=models.Q(models.Q(('stale_at__isnull', True), ('stale_reason', '')), models.Q(('stale_at__isnull', False), models.Q(('stale_reason', ''), _negated=True)), _connector='OR'), name='run_stale_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='Artifact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='artifacts', to='runs.run')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('media_type', models.CharField(default='application/octet-stream', max_length=100, verbose_name='type')),
                ('size', models.BigIntegerField(verbose_name='size')),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('file', models.FileField(max_length=500, upload_to='')),
                ('created_at', models.DateTimeField(verbose_name='created')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'name'), name='artifact_name_unique_in_run'), models.CheckConstraint(condition=models.Q(('name__regex', '^[^/\\\\]+$')), name='artifact_name_is_a_file_name'), models.CheckConstraint(condition=models.Q(('size__gte', 0)), name='artifact_size_not_negative'), models.CheckConstraint(condition=models.Q(('sha256__regex', '^[0-9a-f]{64}$')), name='artifact_sha256_is_one')],
            },
        ),
        migrations.CreateModel(
            name='WorkerBeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200)),
                ('queue', models.CharField(max_length=20)),
                ('at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('name', 'queue'), name='worker_beat_one_per_worker_and_queue')],
            },
        ),
        migrations.CreateModel(
            name='Duty',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('at', models.DateTimeField()),
            ],
            options={
                'verbose_name_plural': 'duties',
            },
        ),
        migrations.CreateModel(
            name='Unit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='units', to='runs.run')),
                ('position', models.PositiveIntegerField()),
                ('stage', models.PositiveSmallIntegerField(default=0)),
                ('payload', models.JSONField(blank=True, default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('state', models.CharField(choices=[('PENDING', 'pending'), ('CLAIMED', 'claimed'), ('DONE', 'done'), ('FAILED', 'failed'), ('CANCELLED', 'cancelled')], default='PENDING', max_length=10)),
                ('due_at', models.DateTimeField()),
                ('fence', models.PositiveIntegerField(default=0)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('worker', models.CharField(blank=True, max_length=200)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('lost', models.PositiveSmallIntegerField(default=0)),
                ('done', models.BigIntegerField(default=0)),
                ('total', models.BigIntegerField(default=0)),
                ('message', models.TextField(blank=True)),
                ('error', models.TextField(blank=True)),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'PENDING')), fields=['run', 'due_at', 'position'], name='unit_due'), models.Index(condition=models.Q(('state', 'CLAIMED')), fields=['lease_until'], name='unit_leased'), models.Index(fields=['run', 'state'], name='unit_by_run_and_state')],
                'constraints': [models.UniqueConstraint(fields=('run', 'position'), name='unit_position_unique_in_run'), models.CheckConstraint(condition=models.Q(('state__in', ['PENDING', 'CLAIMED', 'DONE', 'FAILED', 'CANCELLED'])), name='unit_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('claimed_at__isnull', False), ('lease_until__isnull', False), ('state', 'CLAIMED'), models.Q(('worker', ''), _negated=True), ('fence__gte', 1)), models.Q(models.Q(('state', 'CLAIMED'), _negated=True), ('lease_until__isnull', True)), _connector='OR'), name='unit_claimed_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('finished_at__isnull', True), ('state__in', ('PENDING', 'CLAIMED'))), models.Q(models.Q(('state__in', ('PENDING', 'CLAIMED')), _negated=True), ('finished_at__isnull', False)), _connector='OR'), name='unit_finished_at_goes_with_state'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'DONE'), _negated=True), ('fence__gte', 1), _connector='OR'), name='unit_done_was_claimed'), models.CheckConstraint(condition=models.Q(models.Q(('done__gte', 0), ('total__gte', models.F('done'))), models.Q(('done__gte', 0), ('total', 0)), _connector='OR'), name='unit_progress_within_total')],
            },
        ),
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='studies.study')),
                ('name', models.CharField(max_length=255, verbose_name='name')),
                ('size', models.BigIntegerField(verbose_name='size')),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('file', models.FileField(max_length=500, upload_to='')),
                ('uploaded_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('uploaded_at', models.DateTimeField(verbose_name='uploaded')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='upload_name_not_empty'), models.CheckConstraint(condition=models.Q(('size__gte', 0)), name='upload_size_not_negative'), models.CheckConstraint(condition=models.Q(('sha256__regex', '^[0-9a-f]{64}$')), name='upload_sha256_is_one')],
            },
        ),
    ]
