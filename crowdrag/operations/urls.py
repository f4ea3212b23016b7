"""Addresses."""

from django.urls import URLPattern, URLResolver, path

from .views import boards, health, metrics, retention, trail

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("operations/", boards.index, name="operations"),
    path("operations/services/", boards.services_page, name="operations_services"),
    path("operations/machines/", boards.machines_page, name="operations_machines"),
    path("operations/work/", boards.work_page, name="operations_work"),
    path("operations/spend/", boards.spend_page, name="operations_spend"),
    path("operations/disk/", boards.disk_page, name="operations_disk"),
    path("operations/rates/", boards.rates_page, name="operations_rates"),
    path("operations/sign-ins/", trail.sign_ins, name="operations_sign_ins"),
    path("operations/sign-ins/table.csv", trail.sign_ins_file, name="operations_sign_ins_file"),
    path("operations/trail/", trail.looks, name="operations_trail"),
    path("operations/trail/table.csv", trail.looks_file, name="operations_trail_file"),
    path("operations/retention/", retention.rules, name="operations_retention"),
    path("operations/retention/remove/", retention.remove, name="operations_remove"),
    path("operations/retention/erase/", retention.erase, name="operations_erase"),
    path("operations/backups/", boards.backups_page, name="operations_backups"),
]
