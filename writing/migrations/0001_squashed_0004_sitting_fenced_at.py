import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('writing', '0001_initial'), ('writing', '0002_the_first_job'), ('writing', '0003_sitting_length'), ('writing', '0004_sitting_fenced_at')]

    initial = True

    dependencies = [
        ('runs', '0001_squashed_0003_unit_stage'),
        ('studies', '0001_squashed_0004_bar'),
    ]

    operations = [
        migrations.CreateModel(
            name='Style',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='studies.study')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('label', models.CharField(max_length=100, verbose_name='label')),
                ('instructions', models.TextField(blank=True, verbose_name='instructions, in Markdown')),
                ('target_words', models.PositiveIntegerField(default=250, verbose_name='words asked for')),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('study', 'name', 'version'), name='style_version_unique'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='style_version_positive')],
            },
        ),
        migrations.CreateModel(
            name='WritingInstructions',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='studies.study')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('text', models.TextField(verbose_name='instructions, in Markdown')),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('study', 'name', 'version'), name='writinginstructions_version_unique'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='writinginstructions_version_positive')],
            },
        ),
        migrations.CreateModel(
            name='Topic',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='topics', to='studies.study')),
                ('external_id', models.CharField(max_length=200, verbose_name='id')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('query', models.TextField(verbose_name='query')),
                ('narrative', models.TextField(blank=True, verbose_name='narrative')),
                ('created_at', models.DateTimeField(verbose_name='created')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'external_id', 'version'), name='topic_version_unique'), models.CheckConstraint(condition=models.Q(('external_id', ''), _negated=True), name='topic_external_id_not_empty'), models.CheckConstraint(condition=models.Q(('query', ''), _negated=True), name='topic_query_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='WritingTask',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='writing_tasks', to='studies.study')),
                ('external_id', models.CharField(max_length=200)),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='writing.topic')),
                ('style', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='writing.style')),
                ('slot', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('is_trial', models.BooleanField(default=False)),
                ('revises', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='revision', to='writing.writingtask')),
                ('participant', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='writing_tasks', to='studies.participant')),
                ('instructions', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tasks', to='writing.writinginstructions')),
                ('state', models.CharField(choices=[('OPEN', 'open'), ('CLAIMED', 'being written'), ('SUBMITTED', 'submitted'), ('ACCEPTED', 'accepted'), ('REJECTED', 'rejected'), ('RETURNED', 'returned'), ('REVISION', 'sent back for revision')], default='OPEN', max_length=10)),
                ('pay', models.PositiveIntegerField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('submitted_at', models.DateTimeField(blank=True, null=True)),
                ('seconds', models.FloatField(blank=True, null=True)),
                ('active_seconds', models.FloatField(blank=True, null=True)),
                ('draft', models.TextField(blank=True)),
                ('reviewer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reviewing_until', models.DateTimeField(blank=True, null=True)),
                ('is_imported', models.BooleanField(default=False)),
            ],
            options={
                'indexes': [models.Index(fields=['study', 'state'], name='task_by_state'), models.Index(condition=models.Q(('state', 'OPEN')), fields=['study', 'id'], name='task_open'), models.Index(condition=models.Q(('state', 'CLAIMED')), fields=['lease_until'], name='task_by_lease')],
                'constraints': [models.UniqueConstraint(fields=('study', 'external_id'), name='task_external_id_unique_per_study'), models.UniqueConstraint(condition=models.Q(('is_imported', False), models.Q(('state__in', ['RETURNED', 'REJECTED', 'REVISION']), _negated=True)), fields=('topic', 'participant'), name='task_nobody_writes_twice_on_a_topic'), models.UniqueConstraint(condition=models.Q(('slot__isnull', False), models.Q(('state__in', ['RETURNED', 'REJECTED', 'REVISION']), _negated=True)), fields=('topic', 'style', 'slot'), name='task_one_at_a_time_per_slot'), models.CheckConstraint(condition=models.Q(('state__in', ['OPEN', 'CLAIMED', 'SUBMITTED', 'ACCEPTED', 'REJECTED', 'RETURNED', 'REVISION'])), name='task_state_known'), models.CheckConstraint(condition=models.Q(('state', 'OPEN'), ('participant__isnull', False), _connector='OR'), name='task_taken_has_a_participant'), models.CheckConstraint(condition=models.Q(('is_imported', True), models.Q(('state', 'CLAIMED'), _negated=True), ('lease_until__isnull', False), _connector='OR'), name='task_claimed_has_a_lease')],
            },
        ),
        migrations.CreateModel(
            name='TaskTransition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='transitions', to='writing.writingtask')),
                ('before', models.CharField(blank=True, choices=[('OPEN', 'open'), ('CLAIMED', 'being written'), ('SUBMITTED', 'submitted'), ('ACCEPTED', 'accepted'), ('REJECTED', 'rejected'), ('RETURNED', 'returned'), ('REVISION', 'sent back for revision')], max_length=10)),
                ('after', models.CharField(choices=[('OPEN', 'open'), ('CLAIMED', 'being written'), ('SUBMITTED', 'submitted'), ('ACCEPTED', 'accepted'), ('REJECTED', 'rejected'), ('RETURNED', 'returned'), ('REVISION', 'sent back for revision')], max_length=10)),
                ('cause', models.CharField(max_length=200)),
                ('note', models.TextField(blank=True)),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='TaskPayment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='payments', to='writing.writingtask')),
                ('amount', models.PositiveIntegerField(verbose_name='amount (minor units)')),
                ('reason', models.CharField(max_length=200, verbose_name='reason')),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='task_payment_has_a_reason'), models.UniqueConstraint(fields=('task', 'reason'), name='task_payment_once_per_reason')],
            },
        ),
        migrations.CreateModel(
            name='Response',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='responses', to='studies.study')),
                ('external_id', models.CharField(max_length=200, verbose_name='id')),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='writing.topic')),
                ('style', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='writing.style')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='responses', to='studies.participant')),
                ('origin', models.CharField(choices=[('HUMAN', 'human'), ('MODEL', 'model'), ('SYSTEM', 'system')], max_length=10, verbose_name='origin')),
                ('task', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='response', to='writing.writingtask')),
                ('text', models.TextField(verbose_name='text')),
                ('words', models.PositiveIntegerField(verbose_name='words')),
                ('dropped_citations', models.PositiveIntegerField(default=0, verbose_name='citations of no passage')),
                ('submitted_at', models.DateTimeField(blank=True, null=True, verbose_name='submitted')),
                ('created_at', models.DateTimeField(verbose_name='stored')),
                ('is_included', models.BooleanField(default=True, verbose_name='included')),
                ('erased_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['study', 'topic', 'style', 'origin'], name='response_by_topic')],
                'constraints': [models.UniqueConstraint(fields=('study', 'external_id'), name='response_external_id_unique_per_study'), models.CheckConstraint(condition=models.Q(('origin__in', ['HUMAN', 'MODEL', 'SYSTEM'])), name='response_origin_known'), models.CheckConstraint(condition=models.Q(('external_id', ''), _negated=True), name='response_external_id_not_empty'), models.CheckConstraint(condition=models.Q(('erased_at__isnull', True), ('text', ''), _connector='OR'), name='response_erased_has_no_text')],
            },
        ),
        migrations.CreateModel(
            name='ResponseDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('about', models.CharField(choices=[('PAY', 'paid'), ('INCLUDE', 'included in the analysis')], max_length=10)),
                ('holds', models.BooleanField()),
                ('reason', models.TextField()),
                ('evidence', models.JSONField(blank=True, default=dict)),
                ('decided_at', models.DateTimeField()),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('response', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='writing.response')),
            ],
            options={
                'abstract': False,
                'constraints': [models.CheckConstraint(condition=models.Q(('about__in', ['PAY', 'INCLUDE'])), name='responsedecision_about_known'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='responsedecision_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='WritingPrompt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='studies.study')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('text', models.TextField(verbose_name='prompt')),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('study', 'name', 'version'), name='writingprompt_version_unique'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='writingprompt_version_positive')],
            },
        ),
        migrations.CreateModel(
            name='ModelAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='model_answers', to='runs.run')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='model_answers', to='studies.participant')),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='model_answers', to='writing.topic')),
                ('style', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='model_answers', to='writing.style')),
                ('outcome', models.CharField(choices=[('WRITTEN', 'written'), ('OVERLONG', 'too long'), ('EMPTY', 'empty'), ('REFUSED', 'refused'), ('FAILED', 'no usable answer')], max_length=10, verbose_name='outcome')),
                ('text', models.TextField(blank=True, verbose_name='what the model said')),
                ('words', models.PositiveIntegerField(default=0, verbose_name='words')),
                ('response', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='model_answers', to='writing.response')),
                ('answered_at', models.DateTimeField(verbose_name='answered')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'topic', 'style'), name='model_answer_once_per_run_and_slot'), models.CheckConstraint(condition=models.Q(('outcome__in', ['WRITTEN', 'OVERLONG', 'EMPTY', 'REFUSED', 'FAILED'])), name='model_answer_outcome_known')],
            },
        ),
        migrations.CreateModel(
            name='WritingLog',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='log', to='writing.writingtask')),
                ('source', models.CharField(choices=[('EDITOR', 'recorded by the editor'), ('SNAPSHOTS', 'imported snapshots')], max_length=10)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('source__in', ['EDITOR', 'SNAPSHOTS'])), name='log_source_known')],
            },
        ),
        migrations.CreateModel(
            name='Sitting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('log', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sittings', to='writing.writinglog')),
                ('number', models.PositiveIntegerField()),
                ('base', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='continued', to='writing.sitting')),
                ('base_events', models.PositiveIntegerField(default=0)),
                ('next_batch', models.PositiveIntegerField(default=0)),
                ('next_event', models.PositiveIntegerField(default=0)),
                ('length', models.PositiveIntegerField(default=0)),
                ('fenced_at', models.DateTimeField(blank=True, null=True)),
                ('opened_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('log', 'number'), name='sitting_number_once_per_log')],
            },
        ),
        migrations.CreateModel(
            name='LogBatch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('log', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='writing.writinglog')),
                ('sitting', models.PositiveIntegerField(default=0)),
                ('number', models.PositiveIntegerField()),
                ('first_event', models.PositiveIntegerField()),
                ('event_count', models.PositiveIntegerField()),
                ('codec', models.CharField(max_length=20)),
                ('payload', models.BinaryField()),
                ('digest', models.BinaryField(max_length=32)),
                ('received_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('log', 'sitting', 'number'), name='log_batch_number_once_per_sitting'), models.UniqueConstraint(fields=('log', 'sitting', 'first_event'), name='log_batch_first_event_once_per_sitting'), models.CheckConstraint(condition=models.Q(('event_count__gte', 1)), name='log_batch_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='Passage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='passages', to='studies.study')),
                ('external_id', models.CharField(max_length=300, verbose_name='source id')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('text', models.TextField(verbose_name='text')),
                ('title', models.TextField(blank=True, verbose_name='title')),
                ('url', models.TextField(blank=True, verbose_name='address')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'external_id', 'version'), name='passage_version_unique'), models.CheckConstraint(condition=models.Q(('external_id', ''), _negated=True), name='passage_external_id_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='Survey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='studies.study')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('kind', models.CharField(choices=[('ENTRY', 'before writing'), ('EXIT', 'after writing')], max_length=5)),
                ('questions', models.JSONField(default=list)),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('study', 'name', 'version'), name='survey_version_unique'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='survey_version_positive'), models.CheckConstraint(condition=models.Q(('kind__in', ['ENTRY', 'EXIT'])), name='survey_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='SurveyAnswers',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='survey_answers', to='writing.writingtask')),
                ('survey', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='answers', to='writing.survey')),
                ('answers', models.JSONField(default=dict)),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('task', 'survey'), name='survey_answered_once_per_task')],
            },
        ),
        migrations.CreateModel(
            name='RetrievedPassage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='retrieved', to='writing.topic')),
                ('passage', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='retrieved', to='writing.passage')),
                ('rank', models.PositiveIntegerField()),
                ('score', models.FloatField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('topic', 'rank'), name='retrieved_rank_once_per_topic'), models.UniqueConstraint(fields=('topic', 'passage'), name='retrieved_passage_once_per_topic')],
            },
        ),
        migrations.CreateModel(
            name='Statement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('response', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='statements', to='writing.response')),
                ('position', models.PositiveIntegerField()),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('closing', models.TextField(blank=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('response', 'position'), name='statement_position_once_per_response'), models.CheckConstraint(condition=models.Q(('end__gte', models.F('start'))), name='statement_end_after_start')],
            },
        ),
        migrations.CreateModel(
            name='Citation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('statement', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='citations', to='writing.statement')),
                ('retrieved', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='citations', to='writing.retrievedpassage')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('statement', 'retrieved'), name='citation_once_per_statement')],
            },
        ),
        migrations.CreateModel(
            name='PlanStyle',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('style', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='plan_styles', to='writing.style')),
                ('position', models.PositiveSmallIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='WritingPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='writing_plan', to='studies.study')),
                ('is_open', models.BooleanField(default=False, verbose_name='open to writers')),
                ('slots', models.PositiveSmallIntegerField(default=1, validators=[django.core.validators.MinValueValidator(1)], verbose_name='responses per topic and style')),
                ('instructions', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='plans', to='writing.writinginstructions')),
                ('consent_text', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='writing_plans', to='studies.consenttext')),
                ('entry_survey', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='entry_plans', to='writing.survey')),
                ('exit_survey', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='exit_plans', to='writing.survey')),
                ('pay', models.PositiveIntegerField(default=0, verbose_name='pay per response (minor units)')),
                ('fee', models.PositiveIntegerField(default=0, verbose_name="platform's fee per response (minor units)")),
                ('tax', models.PositiveIntegerField(default=0, verbose_name='tax per response (minor units)')),
                ('wage_floor', models.PositiveIntegerField(blank=True, null=True, verbose_name='least wage per hour (minor units)')),
                ('minutes', models.PositiveSmallIntegerField(default=25, verbose_name='minutes a response takes')),
                ('lease_hours', models.PositiveSmallIntegerField(default=24, validators=[django.core.validators.MinValueValidator(1)], verbose_name='hours until an untouched task is given to somebody else')),
                ('tasks_per_person', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='responses per person, at most')),
                ('updated_at', models.DateTimeField()),
                ('styles', models.ManyToManyField(related_name='plans', through='writing.PlanStyle', to='writing.style')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('slots__gte', 1)), name='plan_slots_positive'), models.CheckConstraint(condition=models.Q(('lease_hours__gte', 1)), name='plan_lease_positive'), models.CheckConstraint(condition=models.Q(('is_open', False), models.Q(('consent_text__isnull', False), ('instructions__isnull', False)), _connector='OR'), name='plan_open_has_instructions_and_consent')],
            },
        ),
        migrations.CreateModel(
            name='PlanTrialTopic',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('plan', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plan_trial_topics', to='writing.writingplan')),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='plan_trial_topics', to='writing.topic')),
                ('position', models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('plan', 'topic'), name='plan_tries_a_topic_once')],
            },
        ),
        migrations.AddField(
            model_name='planstyle',
            name='plan',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='plan_styles', to='writing.writingplan'),
        ),
        migrations.AddField(
            model_name='writingplan',
            name='trial_topics',
            field=models.ManyToManyField(related_name='trial_plans', through='writing.PlanTrialTopic', to='writing.topic'),
        ),
        migrations.AddConstraint(
            model_name='planstyle',
            constraint=models.UniqueConstraint(fields=('plan', 'style'), name='plan_asks_a_style_once'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='passage',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='f84bc5868ef4f6c14448a6620b3ebdb908c9c8d0', operation='UPDATE', pgid='pgtrigger_never_updated_3fb11', table='writing_passage', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='responsedecision',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='304c6081e14d6dcb13b794a77c21cecc56f6b4f5', operation='UPDATE', pgid='pgtrigger_never_updated_463a2', table='writing_responsedecision', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='style',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='1148a295bd7127f7c39375eb7134dfe65165b0ee', operation='UPDATE', pgid='pgtrigger_never_updated_9347a', table='writing_style', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='survey',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='40bd90cb175761db3b9bb7cb04843f577a5d9e7b', operation='UPDATE', pgid='pgtrigger_never_updated_14a66', table='writing_survey', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='topic',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='e1121c95def85d01936fc94579a465763802d47c', operation='UPDATE', pgid='pgtrigger_never_updated_aeb1a', table='writing_topic', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='retrievedpassage',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='ebbd19f014a52d14228c00a1ce68be8718973137', operation='UPDATE', pgid='pgtrigger_never_updated_f3cf2', table='writing_retrievedpassage', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='retrievedpassage',
            trigger=pgtrigger.compiler.Trigger(name='same_study', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE ok boolean;', func="\n                    SELECT t.study_id = p.study_id INTO ok FROM writing_topic t, writing_passage p\n                        WHERE t.id = NEW.topic_id AND p.id = NEW.passage_id;\n                    IF NOT ok THEN\n                        RAISE EXCEPTION 'retrieved_passage_same_study: topic and passage are of two studies'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NEW;\n                ", hash='022c1d867cfa9233e0311c3e9f6fd10ea3ea1f99', operation='INSERT', pgid='pgtrigger_same_study_c268c', table='writing_retrievedpassage', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='writinginstructions',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='8fae3560b24d6bd9f58f9fafbbe7d701cef2b44a', operation='UPDATE', pgid='pgtrigger_never_updated_3599e', table='writing_writinginstructions', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='logbatch',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='96fb8b9b48b442fc3dca1788e1bda30cb04d8419', operation='UPDATE', pgid='pgtrigger_never_updated_66da7', table='writing_logbatch', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='writingprompt',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='1c460fd246dd5901841e1e3397fe6fc79fb71d5a', operation='UPDATE', pgid='pgtrigger_never_updated_66b2d', table='writing_writingprompt', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='tasktransition',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='bf83daa9dd28834e1c3f903764c0f7a455de118e', operation='UPDATE', pgid='pgtrigger_never_updated_b34f7', table='writing_tasktransition', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='taskpayment',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='95bfb366a1c600cf2af421a9bd8af52bdcbeefc1', operation='UPDATE', pgid='pgtrigger_never_updated_4049d', table='writing_taskpayment', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='response',
            trigger=pgtrigger.compiler.Trigger(name='text_never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n                    IF NEW.erased_at IS NOT NULL AND NEW.text = '' THEN RETURN NEW; END IF;\n                    IF ROW(NEW.text, NEW.topic_id, NEW.style_id, NEW.participant_id, NEW.origin) IS DISTINCT FROM\n                            ROW(OLD.text, OLD.topic_id, OLD.style_id, OLD.participant_id, OLD.origin) THEN\n                        RAISE EXCEPTION 'response_text_never_changes: a revision is another response'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NEW;\n                ", hash='23dbcda74c8187023bcd7127f35aa6c02127e86b', operation='UPDATE OF "text", "topic_id", "style_id", "participant_id", "origin"', pgid='pgtrigger_text_never_changes_7aaa0', table='writing_response', when='BEFORE')),
        ),
    ]
