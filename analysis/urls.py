"""The app's pages."""

from django.urls import path

from .views import (
    bertscore,
    charts,
    competence,
    exports,
    grades,
    leaderboard,
    metrics,
    model_judges,
    order_effects,
    overview,
    pairs,
    planner,
    reports,
    tables,
    writing,
)

urlpatterns = [
    path("studies/<slug:slug>/results/", overview.results, name="results"),
    path("studies/<slug:slug>/results/analyse/", overview.analyse, name="analyse"),
    path("studies/<slug:slug>/results/competence/", competence.participants, name="competence"),
    path("studies/<slug:slug>/results/competence/<int:pk>/", competence.participant, name="participant_results"),
    path("studies/<slug:slug>/results/grades/", grades.grades, name="grades"),
    path("studies/<slug:slug>/results/leaderboard/", leaderboard.leaderboard, name="leaderboard"),
    path("studies/<slug:slug>/results/pairs/", pairs.pairs, name="pairs"),
    path("studies/<slug:slug>/results/pairs/<int:pk>/", pairs.pair, name="pair"),
    path("studies/<slug:slug>/results/report/", reports.report, name="report"),
    path("studies/<slug:slug>/results/report/pack/", reports.pack, name="report_pack"),
    path("studies/<slug:slug>/results/report/<str:name>", reports.report_file, name="report_file"),
    path("studies/<slug:slug>/results/analyses/", reports.analyses, name="analyses"),
    path("studies/<slug:slug>/results/compare/", reports.compare, name="compare_runs"),
    path("studies/<slug:slug>/results/order/", order_effects.order_effects, name="order_results"),
    path("studies/<slug:slug>/results/models/", model_judges.model_judges, name="model_judge_results"),
    path("studies/<slug:slug>/results/writing/", writing.writing, name="writing_results"),
    path("studies/<slug:slug>/results/metrics/", metrics.reference_metrics, name="reference_metrics"),
    path("studies/<slug:slug>/results/bertscore/start/", bertscore.start, name="bertscore_start"),
    path("studies/<slug:slug>/results/tables/<slug:name>.<slug:form>", tables.table, name="result_table"),
    path("studies/<slug:slug>/planner/", planner.planner, name="planner"),
    path("studies/<slug:slug>/planner/<uuid:key>/", planner.moving, name="planner_moving"),
    path("studies/<slug:slug>/planner/<uuid:key>/chart.<slug:form>", planner.chart, name="planner_chart"),
    path("studies/<slug:slug>/export/", exports.exports, name="exports"),
    path("studies/<slug:slug>/export/start/", exports.start, name="export_start"),
    path("studies/<slug:slug>/results/charts/<slug:name>.<slug:form>", charts.chart, name="result_chart"),
]
