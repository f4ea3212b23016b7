import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('audit', '0001_looks_and_failures')]

    initial = True

    dependencies = [
        ('studies', '0001_squashed_0004_bar'),
    ]

    operations = [
        migrations.CreateModel(
            name='SignInFailure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(verbose_name='when')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('mark', models.CharField(max_length=64, verbose_name='account')),
                ('address', models.GenericIPAddressField(null=True, verbose_name='from')),
                ('was_refused', models.BooleanField(default=False, verbose_name='refused unseen')),
            ],
            options={
                'indexes': [models.Index(fields=['mark', 'address', '-at'], name='sign_in_failure_of_pair'), models.Index(fields=['address', '-at'], name='sign_in_failure_of_address'), models.Index(fields=['-at', '-id'], name='sign_in_failure_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('mark__regex', '^[0-9a-f]{64}$')), name='sign_in_failure_mark_is_a_hash')],
            },
        ),
        migrations.CreateModel(
            name='Look',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(verbose_name='when')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='who')),
                ('study', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='studies.study')),
                ('study_slug', models.CharField(blank=True, max_length=80, verbose_name='study')),
                ('what', models.CharField(choices=[('RESPONSE', 'a response'), ('LOG', 'how a response was written'), ('REVIEW', 'work with all that is known of it'), ('ANSWERS', 'what one person answered'), ('PEOPLE', 'a list of people and their work'), ('LETTERS', 'what people asked'), ('VISIT', 'a visit from a platform'), ('FILE', 'a file made of what people gave'), ('ADMIN', 'rows in the administration')], max_length=10, verbose_name='what')),
                ('page', models.CharField(max_length=200, verbose_name='page')),
                ('participant', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='studies.participant')),
                ('thing', models.BigIntegerField(null=True, verbose_name='key of the piece of work')),
            ],
            options={
                'indexes': [models.Index(fields=['-at', '-id'], name='look_newest'), models.Index(fields=['by', '-at'], name='look_by_user'), models.Index(fields=['study', '-at'], name='look_of_study'), models.Index(fields=['participant', '-at'], name='look_of_participant')],
                'constraints': [models.CheckConstraint(condition=models.Q(('what__in', ['RESPONSE', 'LOG', 'REVIEW', 'ANSWERS', 'PEOPLE', 'LETTERS', 'VISIT', 'FILE', 'ADMIN'])), name='look_what_known'), models.CheckConstraint(condition=models.Q(('page', ''), _negated=True), name='look_page_not_empty')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='look',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='9b43ce52e1e37d2b06b4169d3eb884f1ee30e86f', operation='UPDATE', pgid='pgtrigger_never_updated_2ac36', table='audit_look', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='look',
            trigger=pgtrigger.compiler.Trigger(name='kept_for_a_year', sql=pgtrigger.compiler.UpsertTriggerSql(condition="WHEN (OLD.at > NOW() - INTERVAL '1 year')", func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='fd4d8aae4d57905f9799508039c5f42b84792691', operation='DELETE', pgid='pgtrigger_kept_for_a_year_be439', table='audit_look', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='signinfailure',
            trigger=pgtrigger.compiler.Trigger(name='never_updated', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update rows from % table', TG_TABLE_NAME;", hash='d7035ea97c7aafeb4974d4c0e03f638e939045f4', operation='UPDATE', pgid='pgtrigger_never_updated_bb07c', table='audit_signinfailure', when='BEFORE')),
        ),
    ]
