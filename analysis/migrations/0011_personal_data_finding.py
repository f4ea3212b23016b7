import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('analysis', '0010_unit_result'),
        ('studies', '0006_erasure_requested'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(model_name='personalfinding', name='personal_finding_by_verdict'),
        migrations.RemoveConstraint(model_name='personalfinding', name='personal_finding_once_per_place'),
        migrations.RemoveConstraint(model_name='personalfinding', name='personal_finding_end_after_start'),
        migrations.RemoveConstraint(model_name='personalfinding', name='personal_finding_kind_known'),
        migrations.RemoveConstraint(model_name='personalfinding', name='personal_finding_source_known'),
        migrations.RemoveConstraint(model_name='personalfinding', name='personal_finding_decision_has_a_time'),
        migrations.RemoveConstraint(model_name='personalfinding', name='personal_finding_kept_for_a_reason'),
        migrations.RenameModel(old_name='PersonalFinding', new_name='PersonalDataFinding'),
        migrations.AlterField(
            model_name='personaldatafinding',
            name='participant',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personal_data_findings', to='studies.participant'),
        ),
        migrations.AlterField(
            model_name='personaldatafinding',
            name='study',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personal_data_findings', to='studies.study'),
        ),
        migrations.AddIndex(
            model_name='personaldatafinding',
            index=models.Index(fields=['study', 'verdict'], name='personal_data_by_verdict'),
        ),
        migrations.AddConstraint(
            model_name='personaldatafinding',
            constraint=models.UniqueConstraint(fields=('source', 'row', 'field', 'start', 'end', 'kind'), name='personal_data_once_per_place'),
        ),
        migrations.AddConstraint(
            model_name='personaldatafinding',
            constraint=models.CheckConstraint(condition=models.Q(('end__gt', models.F('start'))), name='personal_data_end_after_start'),
        ),
        migrations.AddConstraint(
            model_name='personaldatafinding',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['EMAIL', 'PHONE', 'PROFILE', 'HANDLE', 'PLATFORM', 'ACCOUNT', 'CARD', 'NATIONAL', 'NETWORK', 'ADDRESS', 'NAME', 'BIRTH', 'ANSWER'])), name='personal_data_kind_known'),
        ),
        migrations.AddConstraint(
            model_name='personaldatafinding',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['RESPONSE', 'LOG', 'SURVEY', 'JUSTIFICATION', 'COMMENT'])), name='personal_data_source_known'),
        ),
        migrations.AddConstraint(
            model_name='personaldatafinding',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('reason', ''), ('verdict', '')), models.Q(('decided_at__isnull', False), ('verdict__in', ['RELEASE', 'KEEP', 'REDACT', 'LEAVE_OUT'])), _connector='OR'), name='personal_data_decision_has_a_time'),
        ),
        migrations.AddConstraint(
            model_name='personaldatafinding',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('verdict', 'KEEP'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='personal_data_kept_for_a_reason'),
        ),
    ]
