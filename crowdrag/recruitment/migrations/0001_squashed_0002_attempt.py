import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('recruitment', '0001_initial'), ('recruitment', '0002_attempt')]

    initial = True

    dependencies = [
        ('studies', '0001_squashed_0004_bar'),
    ]

    operations = [
        migrations.CreateModel(
            name='PlatformEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('event_id', models.CharField(max_length=200, unique=True)),
                ('kind', models.CharField(max_length=100, verbose_name='kind')),
                ('resource_id', models.CharField(max_length=200, verbose_name='of what')),
                ('status', models.CharField(blank=True, max_length=50, verbose_name='status')),
                ('identity_hash', models.BinaryField(blank=True, max_length=32, null=True)),
                ('sent_at', models.DateTimeField(verbose_name='sent')),
                ('received_at', models.DateTimeField(verbose_name='received')),
                ('handled_at', models.DateTimeField(blank=True, null=True, verbose_name='handled')),
                ('due_at', models.DateTimeField()),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('note', models.CharField(blank=True, max_length=300, verbose_name='what came of it')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('handled_at__isnull', True)), fields=['due_at'], name='platform_event_unhandled')],
            },
        ),
        migrations.CreateModel(
            name='PlatformStudy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='platform_studies', to='studies.study')),
                ('purpose', models.CharField(max_length=50, verbose_name='way of taking part')),
                ('link', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='platform_study', to='studies.entrylink')),
                ('external_id', models.CharField(blank=True, max_length=100, verbose_name="the platform's id")),
                ('name', models.CharField(max_length=120, verbose_name='public name')),
                ('internal_name', models.CharField(max_length=120, unique=True, verbose_name='internal name')),
                ('description', models.TextField(verbose_name='description')),
                ('reward', models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(1)], verbose_name='reward (minor units)')),
                ('places', models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(1)], verbose_name='places')),
                ('minutes', models.PositiveSmallIntegerField(validators=[django.core.validators.MinValueValidator(1)], verbose_name='minutes it takes')),
                ('most_minutes', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='minutes allowed at most')),
                ('devices', models.JSONField(blank=True, default=list, verbose_name='devices')),
                ('eligibility', models.JSONField(blank=True, default=dict, verbose_name='who may take part')),
                ('codes', models.JSONField(blank=True, default=dict, verbose_name='completion codes')),
                ('screen_out_reward', models.PositiveIntegerField(blank=True, null=True, verbose_name='pay when screened out (minor units)')),
                ('status', models.CharField(blank=True, max_length=20, verbose_name='status there')),
                ('places_taken', models.PositiveIntegerField(default=0, verbose_name='places taken there')),
                ('published_at', models.DateTimeField(blank=True, null=True)),
                ('seen_at', models.DateTimeField(blank=True, null=True, verbose_name='asked about last')),
                ('listed_at', models.DateTimeField(blank=True, null=True, verbose_name='submissions listed last')),
                ('problem', models.TextField(blank=True, verbose_name='what went wrong last')),
                ('created_at', models.DateTimeField(verbose_name='made')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'platform studies',
                'constraints': [models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('external_id',), name='platform_study_external_id_unique'), models.CheckConstraint(condition=models.Q(('minutes__gte', 1), ('places__gte', 1), ('reward__gte', 1)), name='platform_study_terms_positive'), models.CheckConstraint(condition=models.Q(('screen_out_reward__isnull', True), models.Q(('screen_out_reward__gte', 1), ('screen_out_reward__lt', models.F('reward'))), _connector='OR'), name='platform_study_screen_out_pays_less_than_the_reward')],
            },
        ),
        migrations.CreateModel(
            name='Submission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('platform_study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='recruitment.platformstudy')),
                ('external_id', models.CharField(max_length=200, verbose_name="the platform's id")),
                ('participant', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='visits', to='studies.participant')),
                ('identity_hash', models.BinaryField(blank=True, max_length=32, null=True)),
                ('status', models.CharField(blank=True, choices=[('RESERVED', 'place reserved'), ('ACTIVE', 'started'), ('TIMED-OUT', 'timed out'), ('RETURNED', 'returned'), ('AWAITING REVIEW', 'awaits review'), ('SCREENED OUT', 'screened out'), ('REJECTED', 'rejected'), ('PARTIALLY APPROVED', 'partly approved'), ('APPROVED', 'approved')], max_length=20, verbose_name='status there')),
                ('status_at', models.DateTimeField(blank=True, null=True, verbose_name='status as of')),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('completed_at', models.DateTimeField(blank=True, null=True)),
                ('code', models.CharField(blank=True, max_length=50, verbose_name='code entered')),
                ('bonuses', models.JSONField(blank=True, default=list, verbose_name='bonuses paid')),
                ('first_heard_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['external_id'], name='recruitment_externa_a6bb0b_idx')],
                'constraints': [models.UniqueConstraint(fields=('platform_study', 'external_id'), name='submission_once_per_study'), models.CheckConstraint(condition=models.Q(('status', ''), ('status__in', ['RESERVED', 'ACTIVE', 'TIMED-OUT', 'RETURNED', 'AWAITING REVIEW', 'SCREENED OUT', 'REJECTED', 'PARTIALLY APPROVED', 'APPROVED']), _connector='OR'), name='submission_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('status', ''), ('status_at__isnull', True)), models.Q(models.Q(('status', ''), _negated=True), ('status_at__isnull', False)), _connector='OR'), name='submission_status_has_a_time')],
            },
        ),
        migrations.CreateModel(
            name='PlatformOrder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('platform_study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='orders', to='recruitment.platformstudy')),
                ('submission', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='orders', to='recruitment.submission')),
                ('kind', models.CharField(choices=[('APPROVE', 'approve'), ('REJECT', 'reject'), ('SCREEN_OUT', 'screen out'), ('BONUS', 'pay a bonus'), ('PLACES', 'open places')], max_length=12, verbose_name='what')),
                ('key', models.CharField(max_length=200)),
                ('details', models.JSONField(blank=True, default=dict, verbose_name='details')),
                ('progress', models.JSONField(blank=True, default=dict)),
                ('state', models.CharField(choices=[('WAITING', 'waiting'), ('SENDING', 'being sent'), ('UNKNOWN', 'outcome unknown'), ('DONE', 'done'), ('FAILED', 'needs you'), ('DROPPED', 'dropped')], default='WAITING', max_length=8, verbose_name='state')),
                ('tries', models.PositiveSmallIntegerField(default=0, verbose_name='tries')),
                ('attempt', models.PositiveIntegerField(default=0)),
                ('due_at', models.DateTimeField()),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('error', models.TextField(blank=True, verbose_name='last problem')),
                ('created_at', models.DateTimeField(verbose_name='ordered')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('done_at', models.DateTimeField(blank=True, null=True, verbose_name='done')),
            ],
            options={
                'indexes': [models.Index(fields=['state', 'due_at'], name='recruitment_state_13bd82_idx')],
                'constraints': [models.UniqueConstraint(fields=('platform_study', 'key'), name='platform_order_key_unique'), models.CheckConstraint(condition=models.Q(('kind__in', ['APPROVE', 'REJECT', 'SCREEN_OUT', 'BONUS', 'PLACES'])), name='platform_order_kind_known'), models.CheckConstraint(condition=models.Q(('state__in', ['WAITING', 'SENDING', 'UNKNOWN', 'DONE', 'FAILED', 'DROPPED'])), name='platform_order_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'PLACES'), ('submission__isnull', True)), models.Q(models.Q(('kind', 'PLACES'), _negated=True), ('submission__isnull', False)), _connector='OR'), name='platform_order_is_about_somebody_or_about_places'), models.CheckConstraint(condition=models.Q(models.Q(('lease_until__isnull', False), ('state', 'SENDING')), models.Q(models.Q(('state', 'SENDING'), _negated=True), ('lease_until__isnull', True)), _connector='OR'), name='platform_order_sending_has_a_lease'), models.UniqueConstraint(condition=models.Q(('kind', 'BONUS'), ('state__in', ['SENDING', 'UNKNOWN'])), fields=('submission',), name='platform_order_one_bonus_at_a_time')],
            },
        ),
    ]
