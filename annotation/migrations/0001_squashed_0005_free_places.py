import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('annotation', '0001_initial'), ('annotation', '0002_judging'), ('annotation', '0003_model_judges'), ('annotation', '0004_rename_plain'), ('annotation', '0005_free_places')]

    initial = True

    dependencies = [
        ('runs', '0001_squashed_0003_unit_stage'),
        ('studies', '0001_squashed_0004_bar'),
        ('writing', '0001_squashed_0004_sitting_fenced_at'),
    ]

    operations = [
        migrations.CreateModel(
            name='Dimension',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='studies.study')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('question', models.TextField(verbose_name='question')),
                ('label', models.CharField(max_length=100, verbose_name='label')),
                ('description', models.TextField(blank=True, verbose_name='description')),
                ('options', models.JSONField(default=list, verbose_name='options')),
                ('asks_justification', models.BooleanField(default=False, verbose_name='asks for a justification')),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('study', 'name', 'version'), name='dimension_version_unique'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='dimension_version_positive')],
            },
        ),
        migrations.CreateModel(
            name='Instructions',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='studies.study')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('text', models.TextField(verbose_name='text, in Markdown')),
            ],
            options={
                'verbose_name_plural': 'instructions',
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('study', 'name', 'version'), name='instructions_version_unique'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='instructions_version_positive')],
            },
        ),
        migrations.CreateModel(
            name='Pair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs', to='studies.study')),
                ('a', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pairs_as_a', to='writing.response')),
                ('b', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pairs_as_b', to='writing.response')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('a', 'b'), name='pair_once_per_order'), models.CheckConstraint(condition=models.Q(('a', models.F('b')), _negated=True), name='pair_of_two_responses')],
            },
        ),
        migrations.CreateModel(
            name='InjectionTrial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('measurement', models.UUIDField()),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='injection_trials', to='studies.participant')),
                ('pair', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='injection_trials', to='annotation.pair')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='injection_trials', to='annotation.dimension')),
                ('inference', models.CharField(choices=[('COMBINED', 'all dimensions at once'), ('INDIVIDUAL', 'one dimension at a time')], max_length=10, verbose_name='inference')),
                ('attack', models.CharField(max_length=60, verbose_name='planted text')),
                ('kind', models.CharField(max_length=40, verbose_name='its kind')),
                ('spot', models.CharField(choices=[('START', 'before it'), ('MIDDLE', 'between two sentences'), ('END', 'behind it')], max_length=10, verbose_name='where it stood')),
                ('target', models.SmallIntegerField(verbose_name='answer that it asks for')),
                ('plain', models.SmallIntegerField(blank=True, null=True)),
                ('attacked', models.SmallIntegerField(blank=True, null=True)),
                ('neutral', models.SmallIntegerField(blank=True, null=True)),
                ('bare_plain', models.SmallIntegerField(blank=True, null=True)),
                ('bare_attacked', models.SmallIntegerField(blank=True, null=True)),
                ('bare_neutral', models.SmallIntegerField(blank=True, null=True)),
                ('majority', models.SmallIntegerField(blank=True, null=True)),
                ('measured_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('measurement', 'pair'), name='injection_trial_once_per_pair'), models.CheckConstraint(condition=models.Q(('target__in', [-1, 1])), name='injection_trial_asks_for_a_or_b'), models.CheckConstraint(condition=models.Q(('spot__in', ['START', 'MIDDLE', 'END'])), name='injection_trial_spot_known'), models.CheckConstraint(condition=models.Q(('inference__in', ['COMBINED', 'INDIVIDUAL'])), name='injection_trial_inference_known')],
            },
        ),
        migrations.CreateModel(
            name='JudgingPrompt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='studies.study')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('text', models.TextField(verbose_name='text')),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('study', 'name', 'version'), name='judgingprompt_version_unique'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='judgingprompt_version_positive')],
            },
        ),
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='campaigns', to='studies.study')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('kind', models.CharField(choices=[('PAIRWISE', 'pairwise'), ('POINTWISE', 'pointwise'), ('EXPERT', 'expert')], max_length=10, verbose_name='kind')),
                ('judges', models.CharField(choices=[('CROWD', 'crowd'), ('EXPERT', 'experts'), ('MODEL', 'language model')], max_length=10, verbose_name='judges')),
                ('inference', models.CharField(blank=True, choices=[('COMBINED', 'all dimensions at once'), ('INDIVIDUAL', 'one dimension at a time')], max_length=10, verbose_name='inference')),
                ('k', models.PositiveSmallIntegerField(default=5, validators=[django.core.validators.MinValueValidator(1)], verbose_name='judgments per item')),
                ('instructions', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='annotation.instructions')),
                ('state', models.CharField(choices=[('DRAFT', 'draft'), ('OPEN', 'open'), ('PAUSED', 'paused'), ('CLOSED', 'closed')], default='DRAFT', max_length=10, verbose_name='state')),
                ('is_simulated', models.BooleanField(default=False, verbose_name='simulated')),
                ('pay', models.PositiveIntegerField(blank=True, null=True, verbose_name='pay per questionnaire (minor units)')),
                ('fee', models.PositiveIntegerField(blank=True, null=True, verbose_name="platform's fee per questionnaire (minor units)")),
                ('tax', models.PositiveIntegerField(blank=True, null=True, verbose_name='tax per questionnaire (minor units)')),
                ('wage_floor', models.PositiveIntegerField(blank=True, null=True, verbose_name='least wage per hour (minor units)')),
                ('minutes', models.PositiveSmallIntegerField(default=25, validators=[django.core.validators.MinValueValidator(1)], verbose_name='minutes a questionnaire takes')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('has_places', models.BooleanField(default=False)),
                ('consent_text', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='studies.consenttext')),
                ('source', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='asked_again', to='annotation.campaign')),
                ('design', models.JSONField(blank=True, default=dict, verbose_name='design')),
                ('eligibility', models.JSONField(blank=True, default=dict, verbose_name='who may take part')),
                ('lease_minutes', models.PositiveSmallIntegerField(default=60, validators=[django.core.validators.MinValueValidator(1)], verbose_name='minutes until an untouched questionnaire is given to somebody else')),
                ('questionnaires_per_person', models.PositiveSmallIntegerField(blank=True, default=1, null=True, verbose_name='questionnaires per person, at most')),
                ('least_seconds', models.PositiveIntegerField(blank=True, default=600, null=True, verbose_name='least seconds for a questionnaire')),
                ('takes_comments', models.BooleanField(default=True, verbose_name='asks for comments at the end')),
                ('opened_at', models.DateTimeField(blank=True, null=True)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'name'), name='campaign_name_unique_per_study'), models.CheckConstraint(condition=models.Q(('k__gte', 1)), name='campaign_k_positive'), models.CheckConstraint(condition=models.Q(('kind__in', ['PAIRWISE', 'POINTWISE', 'EXPERT'])), name='campaign_kind_known'), models.CheckConstraint(condition=models.Q(('judges__in', ['CROWD', 'EXPERT', 'MODEL'])), name='campaign_judges_known'), models.CheckConstraint(condition=models.Q(('state__in', ['DRAFT', 'OPEN', 'PAUSED', 'CLOSED'])), name='campaign_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('inference__in', ['COMBINED', 'INDIVIDUAL']), ('judges', 'MODEL')), models.Q(models.Q(('judges', 'MODEL'), _negated=True), ('inference', '')), _connector='OR'), name='campaign_inference_is_said_of_models_only'), models.CheckConstraint(condition=models.Q(('minutes__gte', 1)), name='campaign_minutes_positive'), models.CheckConstraint(condition=models.Q(('lease_minutes__gte', 1)), name='campaign_lease_positive'), models.CheckConstraint(condition=models.Q(models.Q(('has_places', True), ('state', 'OPEN'), _negated=True), models.Q(('consent_text__isnull', False), ('instructions__isnull', False), ('opened_at__isnull', False)), _connector='OR'), name='campaign_open_has_instructions_and_consent'), models.CheckConstraint(condition=models.Q(('has_places', True), ('judges', 'MODEL'), _negated=True), name='campaign_of_a_model_has_no_places')],
            },
        ),
        migrations.CreateModel(
            name='CampaignDimension',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='asked', to='annotation.campaign')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='asked', to='annotation.dimension')),
                ('position', models.PositiveSmallIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'dimension'), name='campaign_asks_a_dimension_once'), models.UniqueConstraint(fields=('campaign', 'position'), name='campaign_dimension_position_unique')],
            },
        ),
        migrations.CreateModel(
            name='Item',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='annotation.campaign')),
                ('pair', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='annotation.pair')),
                ('response', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='items', to='writing.response')),
                ('topic', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='items', to='writing.topic')),
                ('external_id', models.CharField(blank=True, max_length=200)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'pair'), name='item_pair_once_per_campaign'), models.UniqueConstraint(fields=('campaign', 'response'), name='item_response_once_per_campaign'), models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('campaign', 'external_id'), name='item_external_id_once_per_campaign'), models.CheckConstraint(condition=models.Q(models.Q(('pair__isnull', False), ('response__isnull', True)), models.Q(('pair__isnull', True), ('response__isnull', False)), models.Q(('pair__isnull', True), ('response__isnull', True), models.Q(('external_id', ''), _negated=True)), _connector='OR'), name='item_is_a_pair_or_a_response')],
            },
        ),
        migrations.CreateModel(
            name='JudgingAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='judging_answers', to='runs.run')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judging_answers', to='studies.participant')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judging_answers', to='annotation.item')),
                ('dimension', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judging_answers', to='annotation.dimension')),
                ('repeat', models.PositiveSmallIntegerField(default=0)),
                ('outcome', models.CharField(choices=[('JUDGED', 'judged'), ('REFUSED', 'refused'), ('EMPTY', 'empty'), ('CUT', 'cut off'), ('INVALID', 'not in the form asked for'), ('FAILED', 'the server did not take it')], max_length=10, verbose_name='outcome')),
                ('attempts', models.PositiveIntegerField(default=1, verbose_name='times asked')),
                ('digest', models.CharField(max_length=64, verbose_name='call')),
                ('is_own', models.BooleanField(default=False, verbose_name='the model wrote one of the responses')),
                ('answered_at', models.DateTimeField(verbose_name='answered')),
            ],
            options={
                'indexes': [models.Index(fields=['run', 'outcome'], name='judging_answer_by_run')],
                'constraints': [models.UniqueConstraint(fields=('participant', 'item', 'dimension', 'repeat'), name='judging_answer_once_per_question', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('outcome__in', ['JUDGED', 'REFUSED', 'EMPTY', 'CUT', 'INVALID', 'FAILED'])), name='judging_answer_outcome_known'), models.CheckConstraint(condition=models.Q(('digest__regex', '^[0-9a-f]{64}$')), name='judging_answer_digest_is_sha256')],
            },
        ),
        migrations.CreateModel(
            name='Questionnaire',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questionnaires', to='annotation.campaign')),
                ('external_id', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField()),
                ('position', models.PositiveIntegerField(blank=True, null=True)),
                ('words', models.PositiveIntegerField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'external_id'), name='questionnaire_external_id_unique'), models.UniqueConstraint(fields=('campaign', 'position'), name='questionnaire_position_once_per_campaign')],
            },
        ),
        migrations.CreateModel(
            name='QuestionnaireItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('questionnaire', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entries', to='annotation.questionnaire')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='annotation.item')),
                ('position', models.PositiveSmallIntegerField()),
                ('is_gold', models.BooleanField(default=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('questionnaire', 'item'), name='questionnaire_holds_an_item_once'), models.UniqueConstraint(fields=('questionnaire', 'position'), name='questionnaire_position_unique')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('questionnaire', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='annotation.questionnaire')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='studies.participant')),
                ('external_id', models.CharField(blank=True, max_length=200)),
                ('state', models.CharField(choices=[('ASSIGNED', 'assigned'), ('SUBMITTED', 'submitted'), ('ACCEPTED', 'accepted'), ('REJECTED', 'rejected'), ('RETURNED', 'returned'), ('TIMED_OUT', 'timed out'), ('WITHDRAWN', 'withdrawn'), ('SURPLUS', 'surplus')], default='ASSIGNED', max_length=10)),
                ('is_included', models.BooleanField(default=True)),
                ('assigned_at', models.DateTimeField(blank=True, null=True)),
                ('submitted_at', models.DateTimeField(blank=True, null=True)),
                ('seconds', models.FloatField(blank=True, null=True)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
                ('pay', models.PositiveIntegerField(blank=True, null=True)),
                ('active_seconds', models.FloatField(blank=True, null=True)),
                ('comment', models.TextField(blank=True, verbose_name='comment')),
                ('session', models.CharField(blank=True, max_length=200)),
                ('reviewer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reviewing_until', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['questionnaire', 'state'], name='assignment_by_state'), models.Index(condition=models.Q(('lease_until__isnull', False), ('state', 'ASSIGNED')), fields=['lease_until'], name='assignment_by_lease'), models.Index(condition=models.Q(('session', ''), _negated=True), fields=['session'], name='assignment_by_session'), models.Index(condition=models.Q(('external_id', ''), _negated=True), fields=['external_id'], name='assignment_by_external_id')],
                'constraints': [models.UniqueConstraint(fields=('questionnaire', 'participant'), name='assignment_nobody_twice_on_a_questionnaire'), models.CheckConstraint(condition=models.Q(('state__in', ['ASSIGNED', 'SUBMITTED', 'ACCEPTED', 'REJECTED', 'RETURNED', 'TIMED_OUT', 'WITHDRAWN', 'SURPLUS'])), name='assignment_state_known'), models.CheckConstraint(condition=models.Q(('seconds__isnull', True), ('seconds__gte', 0), _connector='OR'), name='assignment_seconds_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='AssignmentTransition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='transitions', to='annotation.assignment')),
                ('before', models.CharField(blank=True, choices=[('ASSIGNED', 'assigned'), ('SUBMITTED', 'submitted'), ('ACCEPTED', 'accepted'), ('REJECTED', 'rejected'), ('RETURNED', 'returned'), ('TIMED_OUT', 'timed out'), ('WITHDRAWN', 'withdrawn'), ('SURPLUS', 'surplus')], max_length=10)),
                ('after', models.CharField(choices=[('ASSIGNED', 'assigned'), ('SUBMITTED', 'submitted'), ('ACCEPTED', 'accepted'), ('REJECTED', 'rejected'), ('RETURNED', 'returned'), ('TIMED_OUT', 'timed out'), ('WITHDRAWN', 'withdrawn'), ('SURPLUS', 'surplus')], max_length=10)),
                ('cause', models.CharField(max_length=200)),
                ('note', models.TextField(blank=True)),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='AssignmentDecision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('about', models.CharField(choices=[('PAY', 'paid'), ('INCLUDE', 'included in the analysis')], max_length=10)),
                ('holds', models.BooleanField()),
                ('reason', models.TextField()),
                ('evidence', models.JSONField(blank=True, default=dict)),
                ('decided_at', models.DateTimeField()),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='annotation.assignment')),
            ],
            options={
                'abstract': False,
                'constraints': [models.CheckConstraint(condition=models.Q(('about__in', ['PAY', 'INCLUDE'])), name='assignmentdecision_about_known'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='assignmentdecision_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='AssignmentPayment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='payments', to='annotation.assignment')),
                ('amount', models.PositiveIntegerField(verbose_name='amount (minor units)')),
                ('reason', models.CharField(max_length=200, verbose_name='reason')),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='assignment_payment_has_a_reason'), models.UniqueConstraint(fields=('assignment', 'reason'), name='assignment_payment_once_per_reason')],
            },
        ),
        migrations.CreateModel(
            name='AttentionCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('questionnaire', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='checks', to='annotation.questionnaire')),
                ('position', models.PositiveSmallIntegerField()),
                ('text', models.TextField(verbose_name='text')),
                ('options', models.JSONField(default=list, verbose_name='options')),
                ('expected', models.SmallIntegerField(verbose_name='expected answer')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('questionnaire', 'position'), name='check_once_per_position'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='check_has_a_text')],
            },
        ),
        migrations.CreateModel(
            name='CheckAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='check_answers', to='annotation.assignment')),
                ('check_asked', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotation.attentioncheck')),
                ('value', models.SmallIntegerField()),
                ('revision', models.PositiveIntegerField(default=1)),
                ('answered_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('assignment', 'check_asked'), name='check_answered_once')],
            },
        ),
        migrations.CreateModel(
            name='GoldLabel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gold_labels', to='annotation.item')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gold_labels', to='annotation.dimension')),
                ('value', models.SmallIntegerField(verbose_name='label')),
                ('explanation', models.TextField(blank=True, verbose_name='explanation')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('item', 'dimension'), name='gold_label_once_per_question')],
            },
        ),
        migrations.CreateModel(
            name='TrainingItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='training', to='annotation.campaign')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='training', to='annotation.item')),
                ('position', models.PositiveSmallIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'item'), name='training_item_once'), models.UniqueConstraint(fields=('campaign', 'position'), name='training_position_once')],
            },
        ),
        migrations.CreateModel(
            name='TrainingAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('training_item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='annotation.trainingitem')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='training_answers', to='studies.participant')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='training_answers', to='annotation.dimension')),
                ('value', models.SmallIntegerField()),
                ('answered_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('training_item', 'participant', 'dimension'), name='training_answered_once')],
            },
        ),
        migrations.CreateModel(
            name='Judgment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgments', to='annotation.assignment')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotation.item')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='judgments', to='annotation.dimension')),
                ('value', models.SmallIntegerField(verbose_name='value')),
                ('repeat', models.PositiveSmallIntegerField(default=0)),
                ('justification', models.TextField(blank=True)),
                ('judged_at', models.DateTimeField(blank=True, null=True)),
                ('revision', models.PositiveIntegerField(default=1)),
                ('external_id', models.CharField(blank=True, max_length=200)),
            ],
            options={
                'indexes': [models.Index(fields=['item', 'dimension'], name='judgment_by_item')],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'item', 'dimension', 'repeat'), name='judgment_once_per_question')],
            },
        ),
        migrations.CreateModel(
            name='LiveAgreement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='live_agreement', to='annotation.campaign')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.dimension')),
                ('alpha', models.FloatField(null=True)),
                ('low', models.FloatField(null=True)),
                ('high', models.FloatField(null=True)),
                ('items', models.PositiveIntegerField()),
                ('judgments', models.PositiveIntegerField()),
                ('computed_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'dimension'), name='live_agreement_once')],
            },
        ),
        migrations.CreateModel(
            name='LiveCompetence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='live_competence', to='annotation.campaign')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studies.participant')),
                ('dimension', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.dimension')),
                ('spam_probability', models.FloatField()),
                ('low', models.FloatField(null=True)),
                ('high', models.FloatField(null=True)),
                ('judgments', models.PositiveIntegerField()),
                ('computed_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'participant', 'dimension'), name='live_competence_once')],
            },
        ),
        migrations.CreateModel(
            name='Place',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='places', to='annotation.campaign')),
                ('questionnaire', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='places', to='annotation.questionnaire')),
                ('number', models.PositiveSmallIntegerField()),
                ('rank', models.BigIntegerField()),
                ('holder', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='place', to='annotation.assignment')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('holder__isnull', True)), fields=['campaign', 'rank', 'id'], name='place_free')],
                'constraints': [models.UniqueConstraint(fields=('questionnaire', 'number'), name='place_number_once')],
            },
        ),
        migrations.CreateModel(
            name='PlatformSubmission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='platform_submissions', to='annotation.campaign')),
                ('external_id', models.CharField(max_length=200)),
                ('participant', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='platform_submissions', to='studies.participant')),
                ('seconds', models.FloatField(blank=True, null=True)),
                ('approvals', models.PositiveIntegerField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'external_id'), name='platform_submission_once_per_campaign'), models.CheckConstraint(condition=models.Q(('seconds__isnull', True), ('seconds__gte', 0), _connector='OR'), name='platform_submission_seconds_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='ItemTime',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='item_times', to='annotation.assignment')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='item_times', to='annotation.item')),
                ('visit', models.CharField(max_length=36)),
                ('active_seconds', models.FloatField(default=0)),
                ('away_seconds', models.FloatField(default=0)),
                ('looks', models.PositiveIntegerField(default=0)),
                ('leaves', models.PositiveIntegerField(default=0)),
                ('changes', models.PositiveIntegerField(default=0)),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('assignment', 'item', 'visit'), name='item_time_once_per_visit'), models.CheckConstraint(condition=models.Q(('active_seconds__gte', 0), ('away_seconds__gte', 0)), name='item_time_not_negative')],
            },
        ),
        migrations.AddField(
            model_name='campaign',
            name='dimensions',
            field=models.ManyToManyField(related_name='campaigns', through='annotation.CampaignDimension', to='annotation.dimension'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='assignmentdecision',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='932e476fead27a54e6dc342c416fd4809798c460', operation='UPDATE', pgid='pgtrigger_never_updated_957e0', table='annotation_assignmentdecision', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='assignmentpayment',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='93ea48f46a263c0587ec5ea8f72a1e42cb360a8b', operation='UPDATE', pgid='pgtrigger_never_updated_0626e', table='annotation_assignmentpayment', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='assignmenttransition',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='27a5b4cfe6a54abf74202be2626c3e481a4ebdf8', operation='UPDATE', pgid='pgtrigger_never_updated_9316f', table='annotation_assignmenttransition', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='dimension',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='a814e0313d8640ff1fde90b7a653f371898a2c47', operation='UPDATE', pgid='pgtrigger_never_updated_10add', table='annotation_dimension', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='instructions',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='6ae17f680cd19743209fc626b401d1dd27d6aad7', operation='UPDATE', pgid='pgtrigger_never_updated_9bd88', table='annotation_instructions', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='judgingprompt',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='3fc346fbe7509855fa5a89d366265f879477958b', operation='UPDATE', pgid='pgtrigger_never_updated_8691c', table='annotation_judgingprompt', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='judgment',
            trigger=pgtrigger.compiler.Trigger(name='never_changed_once_submitted', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE over boolean;', func="\n                    SELECT c.has_places AND a.state IN ('SUBMITTED', 'ACCEPTED', 'REJECTED', 'SURPLUS', 'WITHDRAWN')\n                        INTO over FROM annotation_assignment a\n                        JOIN annotation_questionnaire q ON q.id = a.questionnaire_id\n                        JOIN annotation_campaign c ON c.id = q.campaign_id WHERE a.id = NEW.assignment_id;\n                    IF over THEN\n                        RAISE EXCEPTION 'judgment_never_changed_once_submitted: the questionnaire was handed in'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NEW;\n                ", hash='95e49878e48c1a772c0b3d99189c8acf9a5c8da7', operation='INSERT OR UPDATE OF "value"', pgid='pgtrigger_never_changed_once_submitted_d78d8', table='annotation_judgment', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='judgment',
            trigger=pgtrigger.compiler.Trigger(name='value_is_an_option', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE ok boolean;', func="\n                    SELECT d.options @> jsonb_build_array(jsonb_build_object('value', NEW.value)) INTO ok\n                        FROM annotation_dimension d WHERE d.id = NEW.dimension_id;\n                    IF NOT ok THEN\n                        RAISE EXCEPTION 'judgment_value_is_an_option: % is no option of this dimension', NEW.value\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NEW;\n                ", hash='204e1638fbf0e5b0b9b73fdfc73b753bcc19738a', operation='INSERT OR UPDATE OF "value", "dimension_id"', pgid='pgtrigger_value_is_an_option_60d89', table='annotation_judgment', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='judgment',
            trigger=pgtrigger.compiler.Trigger(name='item_was_asked', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE ok boolean;', func="\n                    SELECT EXISTS (\n                        SELECT 1 FROM annotation_assignment a JOIN annotation_questionnaireitem e\n                            ON e.questionnaire_id = a.questionnaire_id\n                        WHERE a.id = NEW.assignment_id AND e.item_id = NEW.item_id) INTO ok;\n                    IF NOT ok THEN\n                        RAISE EXCEPTION 'judgment_item_was_asked: the questionnaire does not hold the item'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NEW;\n                ", hash='3659b52283cc0098345097242e60c4df9d661130', operation='INSERT OR UPDATE OF "item_id", "assignment_id"', pgid='pgtrigger_item_was_asked_edad8', table='annotation_judgment', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='pair',
            trigger=pgtrigger.compiler.Trigger(name='one_topic', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE ok boolean;', func="\n                    SELECT a.topic_id = b.topic_id AND a.study_id = NEW.study_id AND b.study_id = NEW.study_id INTO ok\n                        FROM writing_response a, writing_response b WHERE a.id = NEW.a_id AND b.id = NEW.b_id;\n                    IF NOT ok THEN\n                        RAISE EXCEPTION 'pair_of_one_topic: both responses must answer the same topic of the same study'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NEW;\n                ", hash='7f0bf1263f2b6bdb2e31ce7b40875f20f0784b2a', operation='INSERT OR UPDATE', pgid='pgtrigger_one_topic_7a16c', table='annotation_pair', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='place',
            trigger=pgtrigger.compiler.Trigger(name='of_its_questionnaires_campaign', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE ok boolean;', func="\n                    SELECT q.campaign_id = NEW.campaign_id AND c.has_places INTO ok FROM annotation_questionnaire q\n                        JOIN annotation_campaign c ON c.id = q.campaign_id WHERE q.id = NEW.questionnaire_id;\n                    IF NOT ok THEN\n                        RAISE EXCEPTION 'place_of_its_questionnaires_campaign: another campaign, or one without places'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NEW;\n                ", hash='2d9acf0ca3c881ec5c4817dfec459311ab8b861f', operation='INSERT OR UPDATE OF "campaign_id", "questionnaire_id"', pgid='pgtrigger_of_its_questionnaires_campaign_96d99', table='annotation_place', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='place',
            trigger=pgtrigger.compiler.Trigger(name='who_may_hold_it', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE mine annotation_assignment%ROWTYPE;', func="\n                    IF NEW.holder_id IS NULL THEN\n                        RETURN NEW;\n                    END IF;\n                    IF TG_OP = 'UPDATE' AND OLD.holder_id IS NOT NULL AND OLD.holder_id <> NEW.holder_id THEN\n                        RAISE EXCEPTION 'place_is_free_first: place % is held', NEW.id\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    SELECT * INTO mine FROM annotation_assignment WHERE id = NEW.holder_id;\n                    IF mine.questionnaire_id <> NEW.questionnaire_id THEN\n                        RAISE EXCEPTION 'place_of_the_same_questionnaire: the assignment is to another questionnaire'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    IF EXISTS (\n                        SELECT 1 FROM annotation_questionnaireitem e\n                        JOIN annotation_questionnaireitem f ON f.item_id = e.item_id\n                            AND f.questionnaire_id <> e.questionnaire_id\n                        JOIN annotation_assignment o ON o.questionnaire_id = f.questionnaire_id\n                            AND o.participant_id = mine.participant_id\n                        WHERE e.questionnaire_id = NEW.questionnaire_id\n                    ) THEN\n                        RAISE EXCEPTION 'place_nobody_twice_on_an_item: this person was given one of its items before'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    IF EXISTS (\n                        SELECT 1 FROM annotation_questionnaireitem e JOIN annotation_item i ON i.id = e.item_id\n                        LEFT JOIN annotation_pair p ON p.id = i.pair_id\n                        JOIN writing_response r ON r.id IN (i.response_id, p.a_id, p.b_id)\n                        WHERE e.questionnaire_id = NEW.questionnaire_id AND r.participant_id = mine.participant_id\n                    ) THEN\n                        RAISE EXCEPTION 'place_nobody_judges_an_own_response: this person wrote one of the responses'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NEW;\n                ", hash='ae6aea81c33402f4c5df75e8eb2bd96d6555adc6', operation='INSERT OR UPDATE OF "holder_id"', pgid='pgtrigger_who_may_hold_it_e34f7', table='annotation_place', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='place',
            trigger=pgtrigger.compiler.Trigger(name='held_by_who_needs_it', sql=pgtrigger.compiler.UpsertTriggerSql(constraint='CONSTRAINT', func="\n                    IF TG_OP = 'INSERT' AND NEW.holder_id IS NULL THEN\n                        RETURN NULL;\n                    END IF;\n                    PERFORM 1 FROM annotation_assignment a\n                        JOIN annotation_questionnaire q ON q.id = a.questionnaire_id\n                        JOIN annotation_campaign c ON c.id = q.campaign_id\n                        WHERE c.has_places\n                        AND a.id IN (NEW.holder_id, OLD.holder_id)\n                        AND (a.state IN ('ASSIGNED', 'SUBMITTED', 'ACCEPTED'))\n                            <> EXISTS (SELECT 1 FROM annotation_place p WHERE p.holder_id = a.id);\n                    IF FOUND THEN\n                        RAISE EXCEPTION 'place_held_by_who_needs_it: place % and its holder do not go together', NEW.id\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NULL;\n                ", hash='7a3cca8497f7d88fbabf419e5668ed7cf7442be7', operation='INSERT OR UPDATE OF "holder_id"', pgid='pgtrigger_held_by_who_needs_it_f8cbe', table='annotation_place', timing='DEFERRABLE INITIALLY DEFERRED', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='assignment',
            trigger=pgtrigger.compiler.Trigger(name='holds_a_place_or_not', sql=pgtrigger.compiler.UpsertTriggerSql(constraint='CONSTRAINT', func="\n                    PERFORM 1 FROM annotation_assignment a\n                        JOIN annotation_questionnaire q ON q.id = a.questionnaire_id\n                        JOIN annotation_campaign c ON c.id = q.campaign_id\n                        WHERE a.id = NEW.id AND c.has_places\n                        AND (a.state IN ('ASSIGNED', 'SUBMITTED', 'ACCEPTED'))\n                            <> EXISTS (SELECT 1 FROM annotation_place p WHERE p.holder_id = a.id);\n                    IF FOUND THEN\n                        RAISE EXCEPTION 'assignment_holds_a_place_or_not: state and place do not go together'\n                            USING ERRCODE = 'check_violation';\n                    END IF;\n                    RETURN NULL;\n                ", hash='9e7cab2447109d955d372a54fd5b1ceeece7aa21', operation='INSERT OR UPDATE OF "state"', pgid='pgtrigger_holds_a_place_or_not_e1096', table='annotation_assignment', timing='DEFERRABLE INITIALLY DEFERRED', when='AFTER')),
        ),
    ]
