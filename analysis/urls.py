"""The app's pages."""

from django.urls import path

from .views import charts, competence, exports, grades, overview, pairs, tables

urlpatterns = [
    path("studies/<slug:slug>/results/", overview.results, name="results"),
    path("studies/<slug:slug>/results/analyse/", overview.analyse, name="analyse"),
    path("studies/<slug:slug>/results/competence/", competence.participants, name="competence"),
    path("studies/<slug:slug>/results/competence/<int:pk>/", competence.participant, name="participant_results"),
    path("studies/<slug:slug>/results/grades/", grades.grades, name="grades"),
    path("studies/<slug:slug>/results/pairs/", pairs.pairs, name="pairs"),
    path("studies/<slug:slug>/results/pairs/<int:pk>/", pairs.pair, name="pair"),
    path("studies/<slug:slug>/results/tables/<slug:name>.<slug:form>", tables.table, name="result_table"),
    path("studies/<slug:slug>/export/", exports.exports, name="exports"),
    path("studies/<slug:slug>/export/start/", exports.start, name="export_start"),
    path("studies/<slug:slug>/results/charts/<slug:name>.<slug:form>", charts.chart, name="result_chart"),
]
