import django.core.validators
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('llm', '0001_initial')]

    initial = True

    dependencies = [
        ('studies', '0001_squashed_0004_bar'),
    ]

    operations = [
        migrations.CreateModel(
            name='Endpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True, verbose_name='name')),
                ('base_url', models.CharField(help_text='Of an OpenAI-compatible server; usually ends in /v1.', max_length=500, verbose_name='base URL')),
                ('model', models.CharField(help_text='As the server calls it.', max_length=200, verbose_name='model')),
                ('key_variable', models.CharField(blank=True, help_text='The environment variable that holds the key, CROWDRAG_LLM_KEY_…; empty where none is needed.', max_length=100, validators=[django.core.validators.RegexValidator('^CROWDRAG_LLM_KEY_[A-Z0-9_]+$', 'Name a variable that starts with CROWDRAG_LLM_KEY_.')], verbose_name='key variable')),
                ('key_host', models.CharField(blank=True, help_text='The one host that the key may be sent to.', max_length=255, verbose_name='host of the key')),
                ('input_price', models.DecimalField(decimal_places=4, default=0, max_digits=16, validators=[django.core.validators.MinValueValidator(0)], verbose_name='price per million input tokens (minor units)')),
                ('output_price', models.DecimalField(decimal_places=4, default=0, max_digits=16, validators=[django.core.validators.MinValueValidator(0)], verbose_name='price per million output tokens (minor units)')),
                ('currency', models.CharField(default='USD', max_length=3, verbose_name='currency')),
                ('concurrency', models.PositiveSmallIntegerField(default=4, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)], verbose_name='calls at once')),
                ('timeout', models.PositiveIntegerField(default=120, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(3600)], verbose_name='seconds until a call is given up')),
                ('max_tokens', models.PositiveIntegerField(default=1024, help_text='Where a request does not say; what a call may cost at most follows from it.', validators=[django.core.validators.MinValueValidator(1)], verbose_name='longest answer (tokens)')),
                ('token_parameter', models.CharField(choices=[('max_tokens', 'max_tokens'), ('max_completion_tokens', 'max_completion_tokens')], default='max_tokens', max_length=30, verbose_name='its name for that limit')),
                ('supports_json_schema', models.BooleanField(default=False, verbose_name='JSON schema')),
                ('supports_logprobs', models.BooleanField(default=False, verbose_name='log probabilities')),
                ('supports_batch', models.BooleanField(default=False, verbose_name='batch')),
                ('is_local', models.BooleanField(default=False, help_text='May be on this machine or in a private network, and without TLS.', verbose_name='local')),
                ('is_allowed', models.BooleanField(default=False, help_text='Studies may ask it.', verbose_name='allowed')),
                ('resting_until', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='asked us to wait until')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('changed_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='endpoint_name_not_empty'), models.CheckConstraint(condition=models.Q(('model', ''), _negated=True), name='endpoint_model_not_empty'), models.CheckConstraint(condition=models.Q(('base_url__regex', '^https?://')), name='endpoint_base_url_is_http'), models.CheckConstraint(condition=models.Q(('is_local', True), ('base_url__startswith', 'https://'), _connector='OR'), name='endpoint_remote_uses_tls'), models.CheckConstraint(condition=models.Q(('key_variable', ''), ('key_variable__regex', '^CROWDRAG_LLM_KEY_[A-Z0-9_]+$'), _connector='OR'), name='endpoint_key_variable_has_prefix'), models.CheckConstraint(condition=models.Q(('key_variable', ''), models.Q(('key_host', ''), _negated=True), _connector='OR'), name='endpoint_key_bound_to_a_host'), models.CheckConstraint(condition=models.Q(('input_price__gte', 0), ('output_price__gte', 0)), name='endpoint_prices_not_negative'), models.CheckConstraint(condition=models.Q(('currency__regex', '^[A-Z]{3}$')), name='endpoint_currency_is_a_code'), models.CheckConstraint(condition=models.Q(('concurrency__gte', 1), ('concurrency__lte', 1000)), name='endpoint_concurrency_in_range'), models.CheckConstraint(condition=models.Q(('timeout__gte', 1), ('timeout__lte', 3600)), name='endpoint_timeout_in_range'), models.CheckConstraint(condition=models.Q(('max_tokens__gte', 1)), name='endpoint_max_tokens_positive'), models.CheckConstraint(condition=models.Q(('token_parameter__in', ['max_tokens', 'max_completion_tokens'])), name='endpoint_token_parameter_known')],
            },
        ),
        migrations.CreateModel(
            name='Call',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='llm.endpoint')),
                ('model', models.CharField(max_length=200, verbose_name='model')),
                ('sample', models.PositiveIntegerField(default=0, verbose_name='sample')),
                ('purpose', models.CharField(max_length=100, verbose_name='purpose')),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='calls', to='studies.study')),
                ('state', models.CharField(choices=[('OPEN', 'open'), ('ANSWERED', 'answered'), ('FAILED', 'failed')], default='OPEN', max_length=10, verbose_name='state')),
                ('fault', models.CharField(blank=True, choices=[('', 'none'), ('BLOCKED', 'the address is not allowed'), ('UNREACHABLE', 'no connection'), ('TIMEOUT', 'no answer in time'), ('CUT', 'the connection was cut'), ('BUSY', 'the server is busy'), ('SERVER', 'the server failed'), ('REJECTED', 'the server rejected the request'), ('REDIRECTED', 'the server pointed elsewhere'), ('GARBAGE', 'the reply could not be read'), ('INVALID', 'the answer does not fit its schema'), ('LOST', 'the process that asked was lost')], default='', max_length=12, verbose_name='fault')),
                ('error', models.TextField(blank=True, verbose_name='error')),
                ('request', models.JSONField(blank=True, null=True, verbose_name='request')),
                ('text', models.TextField(blank=True, null=True, verbose_name='answer')),
                ('data', models.JSONField(blank=True, null=True, verbose_name='parsed answer')),
                ('logprobs', models.JSONField(blank=True, null=True, verbose_name='log probabilities')),
                ('refusal', models.TextField(blank=True, null=True, verbose_name='refusal')),
                ('finish_reason', models.CharField(blank=True, max_length=40, verbose_name='why it ended')),
                ('prompt_tokens', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='input tokens')),
                ('completion_tokens', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='output tokens')),
                ('usage_estimated', models.BooleanField(default=False, verbose_name='tokens are an upper bound')),
                ('cost', models.DecimalField(blank=True, decimal_places=10, max_digits=30, null=True, verbose_name='cost (minor units)')),
                ('claimed_by', models.UUIDField(blank=True, null=True)),
                ('claimed_until', models.DateTimeField(blank=True, null=True)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('answered_at', models.DateTimeField(blank=True, null=True, verbose_name='answered')),
                ('erased_at', models.DateTimeField(blank=True, null=True, verbose_name='erased')),
            ],
            options={
                'indexes': [models.Index(fields=['study', 'state'], name='call_study_state'), models.Index(condition=models.Q(('claimed_by__isnull', False)), fields=['claimed_by'], name='call_claimed_by')],
                'constraints': [models.CheckConstraint(condition=models.Q(('digest__regex', '^[0-9a-f]{64}$')), name='call_digest_is_sha256'), models.CheckConstraint(condition=models.Q(('state__in', ['OPEN', 'ANSWERED', 'FAILED'])), name='call_state_known'), models.CheckConstraint(condition=models.Q(('fault__in', ['', 'BLOCKED', 'UNREACHABLE', 'TIMEOUT', 'CUT', 'BUSY', 'SERVER', 'REJECTED', 'REDIRECTED', 'GARBAGE', 'INVALID', 'LOST'])), name='call_fault_known'), models.CheckConstraint(condition=models.Q(('state', 'FAILED'), ('fault', ''), _connector='XOR'), name='call_failed_has_a_fault'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'ANSWERED'), _negated=True), models.Q(('answered_at__isnull', False), ('completion_tokens__isnull', False), ('cost__isnull', False), ('prompt_tokens__isnull', False)), _connector='OR'), name='call_answered_has_its_figures'), models.CheckConstraint(condition=models.Q(('state', 'OPEN'), models.Q(('claimed_by__isnull', True), ('claimed_until__isnull', True)), _connector='OR'), name='call_claimed_only_while_open'), models.CheckConstraint(condition=models.Q(models.Q(('claimed_by__isnull', True), ('claimed_until__isnull', True)), models.Q(('claimed_by__isnull', False), ('claimed_until__isnull', False)), _connector='OR'), name='call_claim_and_lease_go_together'), models.CheckConstraint(condition=models.Q(models.Q(('erased_at__isnull', True), ('request__isnull', False)), models.Q(('data__isnull', True), ('erased_at__isnull', False), ('error', ''), ('logprobs__isnull', True), ('refusal__isnull', True), ('request__isnull', True), ('text__isnull', True)), _connector='OR'), name='call_erased_has_no_texts'), models.CheckConstraint(condition=models.Q(('cost__isnull', True), ('cost__gte', 0), _connector='OR'), name='call_cost_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('call', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='attempts', to='llm.call')),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='studies.study')),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='llm.endpoint')),
                ('number', models.PositiveIntegerField(verbose_name='number')),
                ('fence', models.PositiveIntegerField()),
                ('state', models.CharField(choices=[('INTENDED', 'on its way'), ('ANSWERED', 'answered'), ('FAILED', 'failed'), ('UNKNOWN', 'outcome unknown')], default='INTENDED', max_length=10, verbose_name='state')),
                ('fault', models.CharField(blank=True, choices=[('', 'none'), ('BLOCKED', 'the address is not allowed'), ('UNREACHABLE', 'no connection'), ('TIMEOUT', 'no answer in time'), ('CUT', 'the connection was cut'), ('BUSY', 'the server is busy'), ('SERVER', 'the server failed'), ('REJECTED', 'the server rejected the request'), ('REDIRECTED', 'the server pointed elsewhere'), ('GARBAGE', 'the reply could not be read'), ('INVALID', 'the answer does not fit its schema'), ('LOST', 'the process that asked was lost')], default='', max_length=12, verbose_name='fault')),
                ('error', models.TextField(blank=True, help_text='Keys are cut out.', verbose_name='error')),
                ('reply', models.TextField(blank=True, null=True, verbose_name='unusable reply')),
                ('http_status', models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='HTTP status')),
                ('retry_after', models.FloatField(blank=True, null=True, verbose_name='asked to wait (s)')),
                ('prompt_tokens', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='input tokens')),
                ('completion_tokens', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='output tokens')),
                ('usage_estimated', models.BooleanField(default=False, verbose_name='tokens are an upper bound')),
                ('bound', models.DecimalField(decimal_places=10, max_digits=30, verbose_name='cost at most (minor units)')),
                ('cost', models.DecimalField(decimal_places=10, max_digits=30, verbose_name='cost (minor units)')),
                ('currency', models.CharField(max_length=3, verbose_name='currency')),
                ('started_at', models.DateTimeField(verbose_name='sent')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended')),
                ('latency', models.FloatField(blank=True, null=True, verbose_name='seconds')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'INTENDED')), fields=['endpoint'], name='attempt_on_its_way'), models.Index(fields=['study', 'state'], name='attempt_study_state')],
                'constraints': [models.UniqueConstraint(fields=('call', 'number'), name='attempt_number_unique_per_call'), models.CheckConstraint(condition=models.Q(('state__in', ['INTENDED', 'ANSWERED', 'FAILED', 'UNKNOWN'])), name='attempt_state_known'), models.CheckConstraint(condition=models.Q(('fault__in', ['', 'BLOCKED', 'UNREACHABLE', 'TIMEOUT', 'CUT', 'BUSY', 'SERVER', 'REJECTED', 'REDIRECTED', 'GARBAGE', 'INVALID', 'LOST'])), name='attempt_fault_known'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='attempt_number_positive'), models.CheckConstraint(condition=models.Q(('bound__gte', 0), ('cost__gte', 0)), name='attempt_cost_not_negative'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['INTENDED', 'UNKNOWN']), _negated=True), ('cost', models.F('bound')), _connector='OR'), name='attempt_unknown_costs_its_bound'), models.CheckConstraint(condition=models.Q(('state', 'INTENDED'), ('ended_at__isnull', False), _connector='XOR'), name='attempt_ended_unless_on_its_way'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['FAILED', 'UNKNOWN']), _negated=True), models.Q(('fault', ''), _negated=True), _connector='OR'), name='attempt_failed_has_a_fault'), models.CheckConstraint(condition=models.Q(('currency__regex', '^[A-Z]{3}$')), name='attempt_currency_is_a_code')],
            },
        ),
        migrations.CreateModel(
            name='Spend',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='spend', to='studies.study')),
                ('held', models.DecimalField(decimal_places=10, default=0, max_digits=30, verbose_name='held (minor units)')),
                ('settled', models.DecimalField(decimal_places=10, default=0, max_digits=30, verbose_name='settled (minor units)')),
            ],
            options={
                'verbose_name_plural': 'spend',
                'constraints': [models.CheckConstraint(condition=models.Q(('held__gte', 0), ('settled__gte', 0)), name='spend_not_negative')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='attempt',
            trigger=pgtrigger.compiler.Trigger(name='state_moves_forward', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE _is_valid_transition BOOLEAN;', func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{INTENDED:ANSWERED,INTENDED:FAILED,INTENDED:UNKNOWN,UNKNOWN:ANSWERED,UNKNOWN:FAILED}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;', hash='cf34f81c123f76a04dbbe0ccef27dd9d5f7c8c83', operation='UPDATE', pgid='pgtrigger_state_moves_forward_7e285', table='llm_attempt', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='attempt',
            trigger=pgtrigger.compiler.Trigger(name='bound_stays', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."bound" IS DISTINCT FROM (NEW."bound"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='53fbd343124db3e9e1c655b0b413e884cd189cb4', operation='UPDATE', pgid='pgtrigger_bound_stays_c0377', table='llm_attempt', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='attempt',
            trigger=pgtrigger.compiler.Trigger(name='settled_cost_stays', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."cost" IS DISTINCT FROM (NEW."cost") AND OLD."state" IN (\'ANSWERED\', \'FAILED\'))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='b9fd0b2019b722e0adf97870d6b47b7cd5305610', operation='UPDATE', pgid='pgtrigger_settled_cost_stays_c581b', table='llm_attempt', when='BEFORE')),
        ),
    ]
