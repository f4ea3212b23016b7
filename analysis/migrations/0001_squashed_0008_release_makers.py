import django.core.serializers.json
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('analysis', '0001_initial'), ('analysis', '0002_log_measures'), ('analysis', '0003_encoders'), ('analysis', '0004_findings'), ('analysis', '0005_generations'), ('analysis', '0006_releases'), ('analysis', '0007_personal_data'), ('analysis', '0008_release_makers')]

    initial = True

    dependencies = [
        ('runs', '0001_squashed_0003_unit_stage'),
        ('studies', '0001_squashed_0004_bar'),
        ('writing', '0001_squashed_0004_sitting_fenced_at'),
    ]

    operations = [
        migrations.CreateModel(
            name='Encoder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='encoders', to='studies.study')),
                ('model', models.CharField(max_length=300)),
                ('layer', models.PositiveSmallIntegerField()),
                ('version', models.CharField(max_length=40)),
                ('used_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'model', 'layer', 'version'), name='encoder_once_per_study')],
            },
        ),
        migrations.CreateModel(
            name='Encoding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('encoder', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='encodings', to='analysis.encoder')),
                ('text', models.CharField(max_length=32)),
                ('tokens', models.PositiveIntegerField()),
                ('is_cut', models.BooleanField(default=False)),
                ('payload', models.BinaryField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('encoder', 'text'), name='encoding_once_per_text')],
            },
        ),
        migrations.CreateModel(
            name='Finding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='runs.run')),
                ('key', models.CharField(max_length=300)),
                ('data', models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('usage', models.JSONField(default=dict)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'key'), name='finding_once_per_key')],
            },
        ),
        migrations.CreateModel(
            name='Generation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('generator', models.CharField(max_length=400)),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='generations', to='studies.study')),
                ('text', models.TextField(blank=True)),
                ('likelihood', models.FloatField(blank=True, null=True)),
                ('prompt_tokens', models.PositiveIntegerField(default=0)),
                ('completion_tokens', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('digest__regex', '^[0-9a-f]{64}$')), name='generation_digest_is_sha256')],
            },
        ),
        migrations.CreateModel(
            name='Likeness',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('encoder', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='likenesses', to='analysis.encoder')),
                ('first', models.CharField(max_length=32)),
                ('second', models.CharField(max_length=32)),
                ('precision', models.FloatField(null=True)),
                ('recall', models.FloatField(null=True)),
                ('f1', models.FloatField(null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('encoder', 'first', 'second'), name='likeness_once_per_pair'), models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='likeness_lower_first')],
            },
        ),
        migrations.CreateModel(
            name='LogMeasures',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('log', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='measures', to='writing.writinglog')),
                ('version', models.PositiveSmallIntegerField()),
                ('values', models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='PersonalFinding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personal_findings', to='studies.study')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personal_findings', to='studies.participant')),
                ('source', models.CharField(choices=[('RESPONSE', 'response'), ('LOG', 'an earlier state of a response'), ('SURVEY', 'answer in a survey'), ('JUSTIFICATION', 'reason for a judgment'), ('COMMENT', 'comment on a questionnaire')], max_length=15, verbose_name='where')),
                ('row', models.BigIntegerField()),
                ('field', models.CharField(blank=True, max_length=200)),
                ('kind', models.CharField(choices=[('EMAIL', 'e-mail address'), ('PHONE', 'telephone number'), ('PROFILE', "somebody's page or account"), ('HANDLE', 'user name'), ('PLATFORM', 'id of a recruitment platform'), ('ACCOUNT', 'bank account'), ('CARD', 'payment card'), ('NATIONAL', 'national id'), ('NETWORK', 'network address'), ('ADDRESS', 'postal address'), ('NAME', 'name, where somebody says their own'), ('BIRTH', 'date of birth'), ('ANSWER', 'what the person answered in a survey')], max_length=10, verbose_name='what')),
                ('start', models.PositiveIntegerField()),
                ('end', models.PositiveIntegerField()),
                ('in_passages', models.BooleanField(default=False, verbose_name='stands in a passage too')),
                ('found_at', models.DateTimeField()),
                ('verdict', models.CharField(blank=True, choices=[('RELEASE', 'release: it is none'), ('KEEP', 'release although it is, for a reason'), ('REDACT', 'black it out'), ('LEAVE_OUT', 'leave the whole text out')], max_length=10, verbose_name='decision')),
                ('reason', models.CharField(blank=True, max_length=500, verbose_name='reason')),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['study', 'verdict'], name='personal_finding_by_verdict')],
                'constraints': [models.UniqueConstraint(fields=('source', 'row', 'field', 'start', 'end', 'kind'), name='personal_finding_once_per_place'), models.CheckConstraint(condition=models.Q(('end__gt', models.F('start'))), name='personal_finding_end_after_start'), models.CheckConstraint(condition=models.Q(('kind__in', ['EMAIL', 'PHONE', 'PROFILE', 'HANDLE', 'PLATFORM', 'ACCOUNT', 'CARD', 'NATIONAL', 'NETWORK', 'ADDRESS', 'NAME', 'BIRTH', 'ANSWER'])), name='personal_finding_kind_known'), models.CheckConstraint(condition=models.Q(('source__in', ['RESPONSE', 'LOG', 'SURVEY', 'JUSTIFICATION', 'COMMENT'])), name='personal_finding_source_known'), models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('reason', ''), ('verdict', '')), models.Q(('decided_at__isnull', False), ('verdict__in', ['RELEASE', 'KEEP', 'REDACT', 'LEAVE_OUT'])), _connector='OR'), name='personal_finding_decision_has_a_time'), models.CheckConstraint(condition=models.Q(models.Q(('verdict', 'KEEP'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='personal_finding_kept_for_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='Release',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('study', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='releases', to='studies.study')),
                ('number', models.PositiveIntegerField(verbose_name='version')),
                ('state', models.CharField(choices=[('DRAFT', 'draft'), ('BUILDING', 'being built'), ('READY', 'ready to publish'), ('PUBLISHED', 'published'), ('MARKED', 'marked: something was withdrawn'), ('WITHDRAWN', 'withdrawn')], default='DRAFT', max_length=10, verbose_name='state')),
                ('title', models.CharField(max_length=300, verbose_name='title')),
                ('description', models.TextField(blank=True, verbose_name='what it is')),
                ('creators', models.JSONField(blank=True, default=list, verbose_name='who made it')),
                ('doi', models.CharField(blank=True, max_length=200, verbose_name='DOI')),
                ('notes', models.TextField(blank=True, verbose_name='what is new')),
                ('choices', models.JSONField(blank=True, default=dict, verbose_name='what is in it')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='+', to='runs.run')),
                ('figures', models.JSONField(blank=True, default=dict)),
                ('left_out', models.JSONField(blank=True, default=list)),
                ('digest', models.CharField(blank=True, max_length=64)),
                ('schema_version', models.PositiveSmallIntegerField(default=1)),
                ('embargo_until', models.DateTimeField(blank=True, help_text='Until then only those who have a private link get them.', null=True, verbose_name='files from')),
                ('created_at', models.DateTimeField(verbose_name='created')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('built_at', models.DateTimeField(blank=True, null=True, verbose_name='built')),
                ('published_at', models.DateTimeField(blank=True, null=True, verbose_name='published')),
                ('published_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('marked_at', models.DateTimeField(blank=True, null=True, verbose_name='marked')),
                ('people_gone', models.PositiveIntegerField(default=0)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True, verbose_name='withdrawn')),
                ('withdrawn_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('withdrawn_reason', models.TextField(blank=True, verbose_name='why it was withdrawn')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('study', 'number'), name='release_number_once_per_study'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='release_number_positive'), models.CheckConstraint(condition=models.Q(('state__in', ['DRAFT', 'BUILDING', 'READY', 'PUBLISHED', 'MARKED', 'WITHDRAWN'])), name='release_state_known'), models.CheckConstraint(condition=models.Q(('title', ''), _negated=True), name='release_has_a_title'), models.CheckConstraint(condition=models.Q(('doi', ''), ('doi__regex', '^10\\.[0-9]{4,9}/[^\\s\\"<>]+$'), _connector='OR'), name='release_doi_is_one'), models.CheckConstraint(condition=models.Q(('state', 'DRAFT'), ('run__isnull', False), _connector='OR'), name='release_beyond_a_draft_has_a_run'), models.CheckConstraint(condition=models.Q(models.Q(('built_at__isnull', True), ('digest', ''), ('state__in', ['DRAFT', 'BUILDING'])), models.Q(models.Q(('state__in', ['DRAFT', 'BUILDING']), _negated=True), ('built_at__isnull', False), ('digest__regex', '^[0-9a-f]{64}$')), _connector='OR'), name='release_built_goes_with_state'), models.CheckConstraint(condition=models.Q(models.Q(('published_at__isnull', False), ('state__in', ['PUBLISHED', 'MARKED', 'WITHDRAWN'])), models.Q(models.Q(('state__in', ['PUBLISHED', 'MARKED', 'WITHDRAWN']), _negated=True), ('published_at__isnull', True)), _connector='OR'), name='release_published_at_goes_with_state'), models.CheckConstraint(condition=models.Q(models.Q(('marked_at__isnull', True), ('people_gone', 0)), models.Q(('marked_at__isnull', False), ('people_gone__gte', 1), ('state__in', ['PUBLISHED', 'MARKED', 'WITHDRAWN'])), _connector='OR'), name='release_marked_says_of_how_many'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'MARKED'), _negated=True), ('marked_at__isnull', False), _connector='OR'), name='release_marked_has_a_time'), models.CheckConstraint(condition=models.Q(models.Q(('withdrawn_at__isnull', True), ('withdrawn_reason', ''), models.Q(('state', 'WITHDRAWN'), _negated=True)), models.Q(('state', 'WITHDRAWN'), ('withdrawn_at__isnull', False), models.Q(('withdrawn_reason', ''), _negated=True)), _connector='OR'), name='release_withdrawn_has_a_reason')],
            },
        ),
        migrations.CreateModel(
            name='ReleaseFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='analysis.release')),
                ('path', models.CharField(max_length=300, verbose_name='file')),
                ('about', models.CharField(blank=True, max_length=300, verbose_name='what it is')),
                ('media_type', models.CharField(default='application/octet-stream', max_length=100, verbose_name='type')),
                ('size', models.BigIntegerField(verbose_name='size')),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('of_people', models.BooleanField(default=True)),
                ('file', models.FileField(blank=True, max_length=500, upload_to='')),
                ('removed_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('release', 'path'), name='release_file_path_unique'), models.CheckConstraint(condition=models.Q(('path__regex', '^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$')), name='release_file_path_is_plain'), models.CheckConstraint(condition=models.Q(('size__gte', 0)), name='release_file_size_not_negative'), models.CheckConstraint(condition=models.Q(('sha256__regex', '^[0-9a-f]{64}$')), name='release_file_sha256_is_one'), models.CheckConstraint(condition=models.Q(models.Q(('removed_at__isnull', True), models.Q(('file', ''), _negated=True)), models.Q(('file', ''), ('removed_at__isnull', False)), _connector='OR'), name='release_file_is_there_or_removed')],
            },
        ),
        migrations.CreateModel(
            name='ReleaseLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='analysis.release')),
                ('digest', models.BinaryField(max_length=32, unique=True)),
                ('label', models.CharField(blank=True, max_length=200, verbose_name='for whom')),
                ('created_at', models.DateTimeField()),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('expires_at', models.DateTimeField(verbose_name='until')),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('used_at', models.DateTimeField(blank=True, null=True, verbose_name='last used')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at'))), name='release_link_expires_later')],
            },
        ),
        migrations.CreateModel(
            name='ReleasePerson',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='people', to='analysis.release')),
                ('participant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='releases', to='studies.participant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('release', 'participant'), name='release_person_once')],
            },
        ),
        migrations.CreateModel(
            name='ReleaseTable',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tables', to='analysis.release')),
                ('position', models.PositiveSmallIntegerField()),
                ('name', models.CharField(max_length=100)),
                ('about', models.CharField(blank=True, max_length=500)),
                ('rows', models.BigIntegerField()),
                ('columns', models.JSONField(default=list)),
                ('preview', models.JSONField(blank=True, default=list)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('release', 'name'), name='release_table_name_unique'), models.CheckConstraint(condition=models.Q(('rows__gte', 0)), name='release_table_rows_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Snapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='snapshot', to='runs.run')),
                ('pool', models.CharField(max_length=100)),
                ('digest', models.CharField(max_length=64)),
                ('judgments', models.PositiveIntegerField()),
                ('responses', models.PositiveIntegerField()),
                ('mark', models.JSONField(default=dict)),
                ('payload', models.BinaryField()),
                ('created_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Table',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tables', to='runs.run')),
                ('name', models.CharField(max_length=50)),
                ('rows', models.JSONField(default=list)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'name'), name='table_once_per_run')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='finding',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='4f25411403385291b6a07ec9a3a99431d6410a74', operation='UPDATE', pgid='pgtrigger_never_updated_de7c2', table='analysis_finding', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='release',
            trigger=pgtrigger.compiler.Trigger(name='state_moves', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE _is_valid_transition BOOLEAN;', func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{DRAFT:BUILDING,BUILDING:DRAFT,BUILDING:READY,READY:DRAFT,READY:PUBLISHED,PUBLISHED:MARKED,PUBLISHED:WITHDRAWN,MARKED:WITHDRAWN}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;', hash='072e57e1b513c957b3f5005b3a879362014216d6', operation='UPDATE', pgid='pgtrigger_state_moves_17f25', table='analysis_release', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='release',
            trigger=pgtrigger.compiler.Trigger(name='published_never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."state" IN (\'PUBLISHED\', \'MARKED\', \'WITHDRAWN\') AND (OLD."study_id" IS DISTINCT FROM (NEW."study_id") OR OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."title" IS DISTINCT FROM (NEW."title") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."creators" IS DISTINCT FROM (NEW."creators") OR OLD."doi" IS DISTINCT FROM (NEW."doi") OR OLD."notes" IS DISTINCT FROM (NEW."notes") OR OLD."choices" IS DISTINCT FROM (NEW."choices") OR OLD."run_id" IS DISTINCT FROM (NEW."run_id") OR OLD."figures" IS DISTINCT FROM (NEW."figures") OR OLD."left_out" IS DISTINCT FROM (NEW."left_out") OR OLD."digest" IS DISTINCT FROM (NEW."digest") OR OLD."schema_version" IS DISTINCT FROM (NEW."schema_version") OR OLD."built_at" IS DISTINCT FROM (NEW."built_at") OR OLD."published_at" IS DISTINCT FROM (NEW."published_at")))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='1eee72c2bcbbf665e876d280068aa496bd539357', operation='UPDATE', pgid='pgtrigger_published_never_changes_4c8cc', table='analysis_release', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='release',
            trigger=pgtrigger.compiler.Trigger(name='embargo_only_gets_shorter', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (NEW."embargo_until" IS NOT NULL AND OLD."state" IN (\'PUBLISHED\', \'MARKED\', \'WITHDRAWN\') AND (OLD."embargo_until" IS NULL OR NEW."embargo_until" > (OLD."embargo_until")))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='5f5143fd5721fa5936cfda9d38ec28266787c239', operation='UPDATE', pgid='pgtrigger_embargo_only_gets_shorter_2a1c8', table='analysis_release', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='release',
            trigger=pgtrigger.compiler.Trigger(name='published_stays', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."state" IN (\'PUBLISHED\', \'MARKED\', \'WITHDRAWN\'))', func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='5fb4b825a899ab8b30489d022c4adffe75d6471c', operation='DELETE', pgid='pgtrigger_published_stays_11684', table='analysis_release', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releasefile',
            trigger=pgtrigger.compiler.Trigger(name='only_while_built', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n    PERFORM 1 FROM analysis_release WHERE id = NEW.release_id AND state = 'BUILDING';\n    IF NOT FOUND THEN\n        RAISE EXCEPTION 'release_parts_come_while_it_is_built' USING ERRCODE = 'check_violation';\n    END IF;\n    RETURN NEW;\n", hash='3fd4735cd9685147e40d1795ff3cbcaab403ed9e', operation='INSERT', pgid='pgtrigger_only_while_built_af3e4', table='analysis_releasefile', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releasefile',
            trigger=pgtrigger.compiler.Trigger(name='not_once_published', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n    PERFORM 1 FROM analysis_release WHERE id = OLD.release_id AND state IN ('PUBLISHED', 'MARKED', 'WITHDRAWN');\n    IF FOUND THEN\n        RAISE EXCEPTION 'release_parts_stay_once_published' USING ERRCODE = 'check_violation';\n    END IF;\n    RETURN OLD;\n", hash='cd1d96a0b06878c2031a70e62a69a35380a7b2d5', operation='DELETE', pgid='pgtrigger_not_once_published_dfcfd', table='analysis_releasefile', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releasefile',
            trigger=pgtrigger.compiler.Trigger(name='never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."about" IS DISTINCT FROM (NEW."about") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."media_type" IS DISTINCT FROM (NEW."media_type") OR OLD."of_people" IS DISTINCT FROM (NEW."of_people") OR OLD."path" IS DISTINCT FROM (NEW."path") OR OLD."release_id" IS DISTINCT FROM (NEW."release_id") OR OLD."sha256" IS DISTINCT FROM (NEW."sha256") OR OLD."size" IS DISTINCT FROM (NEW."size"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='6abdc489e9d3c68ec7158329043bff325e4f51e0', operation='UPDATE', pgid='pgtrigger_never_changes_e2c6e', table='analysis_releasefile', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releasefile',
            trigger=pgtrigger.compiler.Trigger(name='removed_stays_removed', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."removed_at" IS NOT NULL OR (NEW."removed_at" IS NULL AND OLD."file" IS DISTINCT FROM (NEW."file")))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='562f23a8001e2958a834b24b74798b3028c2d8d3', operation='UPDATE', pgid='pgtrigger_removed_stays_removed_dd60a', table='analysis_releasefile', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releaseperson',
            trigger=pgtrigger.compiler.Trigger(name='only_while_built', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n    PERFORM 1 FROM analysis_release WHERE id = NEW.release_id AND state = 'BUILDING';\n    IF NOT FOUND THEN\n        RAISE EXCEPTION 'release_parts_come_while_it_is_built' USING ERRCODE = 'check_violation';\n    END IF;\n    RETURN NEW;\n", hash='ef9bfe8d682704f969a5f3143ec622e097133e76', operation='INSERT', pgid='pgtrigger_only_while_built_95020', table='analysis_releaseperson', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releaseperson',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='fba4786b2cdb8d82fcb2478c525ce10563838b12', operation='UPDATE', pgid='pgtrigger_never_updated_e4839', table='analysis_releaseperson', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releasetable',
            trigger=pgtrigger.compiler.Trigger(name='only_while_built', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n    PERFORM 1 FROM analysis_release WHERE id = NEW.release_id AND state = 'BUILDING';\n    IF NOT FOUND THEN\n        RAISE EXCEPTION 'release_parts_come_while_it_is_built' USING ERRCODE = 'check_violation';\n    END IF;\n    RETURN NEW;\n", hash='694cc48bcbee2ceb4b4482fdb54aa686ceb2d2d0', operation='INSERT', pgid='pgtrigger_only_while_built_e558a', table='analysis_releasetable', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releasetable',
            trigger=pgtrigger.compiler.Trigger(name='not_once_published', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n    PERFORM 1 FROM analysis_release WHERE id = OLD.release_id AND state IN ('PUBLISHED', 'MARKED', 'WITHDRAWN');\n    IF FOUND THEN\n        RAISE EXCEPTION 'release_parts_stay_once_published' USING ERRCODE = 'check_violation';\n    END IF;\n    RETURN OLD;\n", hash='4cdda917e61670ed67c826f8e297728c1edaa74c', operation='DELETE', pgid='pgtrigger_not_once_published_f32f8', table='analysis_releasetable', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releasetable',
            trigger=pgtrigger.compiler.Trigger(name='never_changes', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."about" IS DISTINCT FROM (NEW."about") OR OLD."columns" IS DISTINCT FROM (NEW."columns") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."position" IS DISTINCT FROM (NEW."position") OR OLD."release_id" IS DISTINCT FROM (NEW."release_id") OR OLD."rows" IS DISTINCT FROM (NEW."rows"))', func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='9d53f1b126bd354c6d235074ca9a5707505e6de7', operation='UPDATE', pgid='pgtrigger_never_changes_a427e', table='analysis_releasetable', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='releasetable',
            trigger=pgtrigger.compiler.Trigger(name='preview_is_only_emptied', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.preview IS DISTINCT FROM NEW.preview AND NEW.preview <> '[]'::jsonb)", func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='59b1f0c6fe99389312f2dee58d02f9bfe62393ac', operation='UPDATE', pgid='pgtrigger_preview_is_only_emptied_807c5', table='analysis_releasetable', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='snapshot',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='11862bd35797741424fd318ee7fccea3cde5f48e', operation='UPDATE', pgid='pgtrigger_never_updated_f3e8d', table='analysis_snapshot', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='table',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='f22eb4a9365f44382a8c1ca4448a0504db174737', operation='UPDATE', pgid='pgtrigger_never_updated_32f28', table='analysis_table', when='BEFORE')),
        ),
    ]
