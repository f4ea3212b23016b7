"""Addresses of the API's core. Endpoints of other apps stand in their own urls, under `api/v1/` as well."""

from django.urls import URLPattern, URLResolver, path

from .views import description, members, studies, tokens

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", description.explorer, name="api"),
    path("account/tokens/", tokens.mine, name="api_tokens"),
    path("account/tokens/<uuid:key>/revoke/", tokens.revoke, name="api_token_revoke"),
    path("api/problems/", description.problems, name="api_problems"),
    path("api/v1/schema/", description.schema, name="api_schema"),
    path("api/v1/studies/", studies.Studies.as_view(), name="api_studies"),
    path("api/v1/studies/<slug:study>/", studies.OneStudy.as_view(), name="api_study"),
    path("api/v1/studies/<slug:study>/members/", members.Members.as_view(), name="api_members"),
    path("api/v1/studies/<slug:study>/members/<int:user>/", members.OneMember.as_view(), name="api_member"),
]
