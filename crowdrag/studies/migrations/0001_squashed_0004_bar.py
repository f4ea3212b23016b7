import crowdrag.studies.study.models
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('studies', '0001_initial'), ('studies', '0002_taking_part'), ('studies', '0003_who_asks'), ('studies', '0004_bar')]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('email', models.EmailField(max_length=254, unique=True, verbose_name='e-mail address')),
                ('name', models.CharField(blank=True, max_length=200, verbose_name='name')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_unique', violation_error_message='There is a user with this address.')],
            },
            managers=[
                ('objects', crowdrag.studies.study.models.EmailUserManager()),
            ],
        ),
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(help_text='Part of its address and of commands.', max_length=80, unique=True, verbose_name='short name')),
                ('title', models.CharField(max_length=200, verbose_name='title')),
                ('description', models.TextField(blank=True, verbose_name='description')),
                ('language', models.CharField(default='en', help_text='Of its texts, as a BCP 47 tag.', max_length=35, verbose_name='language')),
                ('text_licence', models.CharField(default='CC-BY-4.0', max_length=100, verbose_name='licence of released texts')),
                ('currency', models.CharField(default='USD', max_length=3, verbose_name='currency')),
                ('llm_budget', models.BigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(0)], verbose_name='budget for models (minor units)')),
                ('asked_by', models.CharField(blank=True, help_text='Names and institution, as people read them.', max_length=300, verbose_name='who asks')),
                ('contact', models.CharField(blank=True, help_text='Where people reach you beside the questions that they ask here: an e-mail address, say.', max_length=300, verbose_name='contact')),
                ('payment', models.CharField(blank=True, help_text='Of those who came by a link of yours; a platform pays its own.', max_length=500, verbose_name='how and when people are paid')),
                ('retention', models.CharField(blank=True, help_text='What is released stays released; say how long the rest is kept, and where.', max_length=500, verbose_name='how long what people give is kept')),
                ('is_simulated', models.BooleanField(default=False, help_text='Its crowd is simulated; said wherever it shows.', verbose_name='simulated')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'studies',
                'constraints': [models.CheckConstraint(condition=models.Q(('slug', ''), _negated=True), name='study_slug_not_empty'), models.CheckConstraint(condition=models.Q(('currency__regex', '^[A-Z]{3}$')), name='study_currency_is_a_code'), models.CheckConstraint(condition=models.Q(('llm_budget__isnull', True), ('llm_budget__gte', 0), _connector='OR'), name='study_llm_budget_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Participant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='participants', to='studies.study')),
                ('external_id', models.CharField(max_length=200, verbose_name='pseudonym')),
                ('kind', models.CharField(choices=[('CROWD', 'crowd worker'), ('EXPERT', 'expert'), ('MODEL', 'language model'), ('SYSTEM', 'RAG system')], max_length=10, verbose_name='kind')),
                ('identity', models.BinaryField(blank=True, null=True)),
                ('identity_hash', models.BinaryField(blank=True, max_length=32, null=True)),
                ('specification', models.JSONField(blank=True, default=dict, verbose_name='model, prompt and parameters')),
                ('platform_facts', models.JSONField(blank=True, default=dict, verbose_name='what the platform said')),
                ('is_simulated', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField()),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('erased_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'kind', 'external_id'), name='participant_external_id_unique_per_study_and_kind'), models.UniqueConstraint(condition=models.Q(('identity_hash__isnull', False)), fields=('study', 'identity_hash'), name='participant_identity_once_per_study'), models.CheckConstraint(condition=models.Q(('kind__in', ['CROWD', 'EXPERT', 'MODEL', 'SYSTEM'])), name='participant_kind_known'), models.CheckConstraint(condition=models.Q(('external_id', ''), _negated=True), name='participant_external_id_not_empty'), models.CheckConstraint(condition=models.Q(models.Q(('identity__isnull', True), ('identity_hash__isnull', True)), models.Q(('identity__isnull', False), ('identity_hash__isnull', False)), _connector='OR'), name='participant_identity_and_hash_go_together'), models.CheckConstraint(condition=models.Q(('erased_at__isnull', True), models.Q(('identity__isnull', True), ('identity_hash__isnull', True)), _connector='OR'), name='participant_erased_has_no_identity')],
            },
        ),
        migrations.CreateModel(
            name='Bar',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bars', to='studies.participant')),
                ('reason', models.CharField(max_length=500, verbose_name='reason, for them to read')),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
                ('lifted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_at__isnull', True)), fields=('participant',), name='bar_once_per_participant'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='bar_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='ConsentText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='studies.study')),
                ('name', models.CharField(max_length=100, verbose_name='name')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('text', models.TextField(verbose_name='text, in Markdown')),
                ('text_licence', models.CharField(max_length=100, verbose_name='licence of texts')),
                ('log_licence', models.CharField(blank=True, max_length=100, verbose_name='licence of writing logs')),
                ('timing_licence', models.CharField(blank=True, max_length=100, verbose_name='licence of timing')),
            ],
            options={
                'abstract': False,
                'constraints': [models.UniqueConstraint(fields=('study', 'name', 'version'), name='consenttext_version_unique'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='consenttext_version_positive')],
            },
        ),
        migrations.CreateModel(
            name='Consent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='consents', to='studies.participant')),
                ('text', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='studies.consenttext')),
                ('given_at', models.DateTimeField()),
                ('releases_text', models.BooleanField(default=True)),
                ('releases_log', models.BooleanField(default=False)),
                ('releases_timing', models.BooleanField(default=False)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('participant', 'text'), name='consent_once_per_text'), models.CheckConstraint(condition=models.Q(('withdrawn_at__isnull', True), ('withdrawn_at__gte', models.F('given_at')), _connector='OR'), name='consent_withdrawn_after_given')],
            },
        ),
        migrations.CreateModel(
            name='Enquiry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='enquiries', to='studies.participant')),
                ('kind', models.CharField(choices=[('QUESTION', 'question'), ('PROBLEM', 'problem'), ('CONTEST', 'contested rejection')], max_length=10, verbose_name='kind')),
                ('about', models.CharField(blank=True, max_length=200, verbose_name='about')),
                ('text', models.TextField(verbose_name='text')),
                ('asked_at', models.DateTimeField(verbose_name='asked')),
                ('answer', models.TextField(blank=True, verbose_name='answer')),
                ('answered_at', models.DateTimeField(blank=True, null=True, verbose_name='answered')),
                ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'enquiries',
                'indexes': [models.Index(fields=['participant', 'asked_at'], name='enquiry_by_participant')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['QUESTION', 'PROBLEM', 'CONTEST'])), name='enquiry_kind_known'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='enquiry_has_a_text'), models.CheckConstraint(condition=models.Q(models.Q(('answer', ''), ('answered_at__isnull', True)), models.Q(('answered_at__isnull', False), models.Q(('answer', ''), _negated=True)), _connector='OR'), name='enquiry_answer_and_time_go_together')],
            },
        ),
        migrations.CreateModel(
            name='EntryLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entry_links', to='studies.study')),
                ('purpose', models.CharField(max_length=50, verbose_name='purpose')),
                ('kind', models.CharField(choices=[('PERSONAL', 'personal invitation'), ('OPEN', 'open link'), ('PLATFORM', 'recruitment platform')], max_length=10, verbose_name='kind')),
                ('label', models.CharField(blank=True, max_length=200, verbose_name='label')),
                ('participant', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='entry_links', to='studies.participant')),
                ('token', models.CharField(blank=True, max_length=100)),
                ('token_hash', models.BinaryField(max_length=32, unique=True)),
                ('platform', models.CharField(blank=True, max_length=30, verbose_name='platform')),
                ('parameters', models.JSONField(blank=True, default=dict, verbose_name='URL parameters')),
                ('completion', models.JSONField(blank=True, default=dict, verbose_name='completion addresses')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('expires_at', models.DateTimeField(blank=True, null=True, verbose_name='expires')),
                ('closed_at', models.DateTimeField(blank=True, null=True, verbose_name='closed')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['PERSONAL', 'OPEN', 'PLATFORM'])), name='entry_link_kind_known'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'PERSONAL'), ('participant__isnull', False), ('token', '')), models.Q(models.Q(('kind', 'PERSONAL'), _negated=True), ('participant__isnull', True), models.Q(('token', ''), _negated=True)), _connector='OR'), name='entry_link_is_of_one_person_or_has_a_token')],
            },
        ),
        migrations.CreateModel(
            name='Arrival',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='arrivals', to='studies.entrylink')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='arrivals', to='studies.participant')),
                ('platform_study', models.CharField(blank=True, max_length=200)),
                ('session', models.CharField(blank=True, max_length=200)),
                ('arrived_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('link', 'participant'), name='arrival_once_per_link')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='studies.study')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('role', models.PositiveSmallIntegerField(choices=[(10, 'viewer'), (20, 'reviewer'), (30, 'editor'), (40, 'owner')])),
                ('added_at', models.DateTimeField()),
                ('added_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'user'), name='membership_once_per_study_and_user'), models.CheckConstraint(condition=models.Q(('role__in', [10, 20, 30, 40])), name='membership_role_known')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='bar',
            trigger=pgtrigger.compiler.Trigger(name='only_lifted', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."lifted_at" IS NOT NULL OR OLD."reason" IS DISTINCT FROM (NEW."reason") OR OLD."participant_id" IS DISTINCT FROM (NEW."participant_id"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='649d36225771499bdc7ff9b2ee06c22b3ed7ae14', operation='UPDATE', pgid='pgtrigger_only_lifted_1537f', table='studies_bar', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='consenttext',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='af9213e1ad0ea685d1549e138242c56e0107f0a0', operation='UPDATE', pgid='pgtrigger_never_updated_d6242', table='studies_consenttext', when='BEFORE')),
        ),
    ]
