import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('webhooks', '0001_initial')]

    initial = True

    dependencies = [
        ('studies', '0001_squashed_0004_bar'),
    ]

    operations = [
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhook_messages', to='studies.study')),
                ('event', models.CharField(choices=[('run.ended', 'a run ended: done, failed or cancelled'), ('campaign.ended', 'a campaign ended: of judgments, or of writing'), ('release.published', 'a release was published'), ('webhook.test', 'a test')], max_length=40, verbose_name='event')),
                ('body', models.TextField(verbose_name='message')),
                ('created_at', models.DateTimeField(verbose_name='happened')),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='webhook_message_by_age')],
                'constraints': [models.UniqueConstraint(fields=('key',), name='webhook_message_key_unique'), models.CheckConstraint(condition=models.Q(('event__in', ['run.ended', 'campaign.ended', 'release.published', 'webhook.test'])), name='webhook_message_event_known')],
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='studies.study')),
                ('label', models.CharField(blank=True, max_length=100, verbose_name='for your own use')),
                ('address', models.CharField(max_length=1000, verbose_name='address')),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None, verbose_name='events')),
                ('secret', models.BinaryField()),
                ('former_secret', models.BinaryField(blank=True, null=True)),
                ('former_until', models.DateTimeField(blank=True, null=True)),
                ('state', models.CharField(choices=[('ON', 'on'), ('OFF', 'switched off'), ('FAILING', 'switched off: it failed for days'), ('GONE', 'switched off: the address wants no more')], default='ON', max_length=8, verbose_name='state')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('succeeded_at', models.DateTimeField(blank=True, null=True, verbose_name='last delivered')),
                ('failed_at', models.DateTimeField(blank=True, null=True, verbose_name='last failed')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('key',), name='webhook_key_unique'), models.UniqueConstraint(fields=('study', 'address'), name='webhook_address_once_per_study'), models.CheckConstraint(condition=models.Q(('state__in', ['ON', 'OFF', 'FAILING', 'GONE'])), name='webhook_state_known'), models.CheckConstraint(condition=models.Q(('events__contained_by', ['run.ended', 'campaign.ended', 'release.published']), models.Q(('events', []), _negated=True)), name='webhook_events_known_and_some'), models.CheckConstraint(condition=models.Q(models.Q(('former_secret__isnull', True), ('former_until__isnull', True)), models.Q(('former_secret__isnull', False), ('former_until__isnull', False)), _connector='OR'), name='webhook_former_secret_has_an_end')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='webhooks.webhook')),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='webhooks.message')),
                ('state', models.CharField(choices=[('WAITING', 'on the way'), ('SENDING', 'being sent'), ('DONE', 'delivered'), ('FAILED', 'given up')], default='WAITING', max_length=8, verbose_name='state')),
                ('tries', models.PositiveSmallIntegerField(default=0, verbose_name='tries')),
                ('attempt', models.PositiveIntegerField(default=0)),
                ('due_at', models.DateTimeField()),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('tried_at', models.DateTimeField(blank=True, null=True, verbose_name='last tried')),
                ('delivered_at', models.DateTimeField(blank=True, null=True, verbose_name='delivered')),
                ('status', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='answer')),
                ('problem', models.CharField(blank=True, max_length=300, verbose_name='last problem')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state__in', ['WAITING', 'SENDING'])), fields=['due_at', 'id'], name='webhook_delivery_open')],
                'constraints': [models.UniqueConstraint(fields=('webhook', 'message'), name='webhook_delivery_once'), models.CheckConstraint(condition=models.Q(('state__in', ['WAITING', 'SENDING', 'DONE', 'FAILED'])), name='webhook_delivery_state'), models.CheckConstraint(condition=models.Q(models.Q(('lease_until__isnull', False), ('state', 'SENDING')), models.Q(models.Q(('state', 'SENDING'), _negated=True), ('lease_until__isnull', True)), _connector='OR'), name='webhook_delivery_sending_has_a_lease'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'DONE'), _negated=True), ('delivered_at__isnull', False), _connector='OR'), name='webhook_delivery_done_has_a_time'), models.UniqueConstraint(condition=models.Q(('state', 'SENDING')), fields=('webhook',), name='webhook_delivery_one_at_a_time')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='message',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='67895b377e84a6fb91ea230e7f995f57f7a1e1aa', operation='UPDATE', pgid='pgtrigger_never_updated_3f1a6', table='webhooks_message', when='BEFORE')),
        ),
    ]
