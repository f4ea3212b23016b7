"""Pages and probes of operations."""

from django.urls import URLPattern, URLResolver, path

from . import health, metrics, views

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("operations/", views.overview_page, name="operations"),
    path("operations/services/", views.services_page, name="operations_services"),
    path("operations/machines/", views.machines_page, name="operations_machines"),
    path("operations/work/", views.work_page, name="operations_work"),
    path("operations/spend/", views.spend_page, name="operations_spend"),
    path("operations/disk/", views.disk_page, name="operations_disk"),
    path("operations/rates/", views.rates_page, name="operations_rates"),
    path("operations/sign-ins/", views.sign_ins_page, name="operations_sign_ins"),
    path("operations/sign-ins/table.csv", views.sign_ins_file, name="operations_sign_ins_file"),
    path("operations/access-log/", views.audit_log_page, name="operations_access_log"),
    path("operations/access-log/table.csv", views.audit_log_file, name="operations_access_log_file"),
    path("operations/retention/", views.retention_page, name="operations_retention"),
    path("operations/retention/remove/", views.remove_by_rule, name="operations_remove"),
    path("operations/retention/erase/", views.erase_page, name="operations_erase"),
    path("operations/backups/", views.backups_page, name="operations_backups"),
]
