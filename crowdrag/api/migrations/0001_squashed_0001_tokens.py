import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('api', '0001_tokens')]

    initial = True

    dependencies = [
        ('studies', '0001_squashed_0004_bar'),
    ]

    operations = [
        migrations.CreateModel(
            name='Allowance',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('used_until', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='KeptReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('key', models.CharField(max_length=255)),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studies.study')),
                ('fingerprint', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField()),
                ('headers', models.JSONField(default=dict)),
                ('body', models.TextField(blank=True)),
                ('kept_at', models.DateTimeField()),
            ],
            options={
                'verbose_name_plural': 'kept replies',
                'indexes': [models.Index(fields=['kept_at'], name='keptreply_by_age')],
                'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='keptreply_key_unique_for_user'), models.CheckConstraint(condition=models.Q(('key', ''), _negated=True), name='keptreply_key_not_empty'), models.CheckConstraint(condition=models.Q(('status__gte', 200), ('status__lt', 300)), name='keptreply_of_what_was_done')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('digest', models.CharField(max_length=128, primary_key=True, serialize=False)),
                ('token_key', models.CharField(db_index=True, max_length=25, verbose_name='begins with')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='auth_token_set', to=settings.AUTH_USER_MODEL)),
                ('created', models.DateTimeField(verbose_name='made')),
                ('expiry', models.DateTimeField(verbose_name='ends')),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('name', models.CharField(help_text='What it is for: the name of a script, say.', max_length=100, verbose_name='name')),
                ('last_used_at', models.DateTimeField(blank=True, null=True, verbose_name='last used')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('key',), name='apitoken_key_unique'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='apitoken_name_not_empty'), models.CheckConstraint(condition=models.Q(('expiry__gt', models.F('created'))), name='apitoken_ends_after_it_was_made')],
            },
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grants', to=settings.KNOX_TOKEN_MODEL)),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='studies.study')),
                ('scope', models.CharField(choices=[('READ', 'read'), ('WRITE', 'change'), ('RUN', 'run'), ('MANAGE', 'manage'), ('CREATE', 'make studies')], max_length=10, verbose_name='what for')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('token', 'study', 'scope'), name='grant_once_per_token_study_scope', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('scope__in', ['READ', 'WRITE', 'RUN', 'MANAGE', 'CREATE'])), name='grant_scope_known'), models.CheckConstraint(condition=models.Q(models.Q(('scope', 'CREATE'), _negated=True), ('study__isnull', True), _connector='OR'), name='grant_to_create_names_no_study')],
            },
        ),
    ]
