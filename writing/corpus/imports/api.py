"""Endpoints of imports."""

from typing import Any, ClassVar

from django import forms
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.accounts.enums import Scope
from crowdrag.api.endpoints import Endpoint
from crowdrag.api.permissions import Need
from crowdrag.api.problems import Problem, validation_problem
from crowdrag.jobs.api import RunRow
from crowdrag.jobs.models import Run
from crowdrag.request_limits import MAX_IMPORT_BYTES
from crowdrag.studies.enums import Role

from . import importers
from .forms import ImportForm


class InputRow(serializers.Serializer[Any]):
    """A file that an import takes."""

    field = serializers.CharField(source="role")
    title = serializers.CharField(source="label")
    is_several = serializers.BooleanField(source="many", help_text="Whether several files are allowed.")


class ImporterRow(serializers.Serializer[Any]):
    """A kind of import."""

    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    files = InputRow(source="inputs", many=True)
    options = serializers.ListField(child=serializers.CharField())


class ImporterRows(serializers.Serializer[Any]):
    """All kinds of import."""

    results = ImporterRow(many=True)


class Importers(Endpoint):
    """The kinds of import."""

    needs: ClassVar = {"GET": Need(Role.VIEWER)}

    @extend_schema(responses=ImporterRows)
    def get(self, request: Request, study: str) -> Response:
        """List the kinds of import with their files and options."""
        return Response(ImporterRows({"results": importers.all_importers()}).data)


class Import(Endpoint):
    """An import of one kind."""

    needs: ClassVar = {"POST": Need(Role.EDITOR, Scope.WRITE)}
    parser_classes = (MultiPartParser,)
    largest = MAX_IMPORT_BYTES

    @extend_schema(request={"multipart/form-data": {"type": "object"}}, responses={202: RunRow})
    def post(self, request: Request, study: str, name: str) -> Response:
        """Start an import with uploaded files, each in the field with its name.

        Returns the run. Problems of the files are in its `problems`.
        """
        try:
            importer = importers.get(name)
        except importers.UnknownImporter:
            raise Problem("not-found") from None
        form = ImportForm(importer, request.data, request.FILES)
        if unknown := sorted((set(request.data) | set(request.FILES)) - set(form.fields)):
            raise invalid({field: [("This import has no such field.", "unknown")] for field in unknown})
        if not form.is_valid():
            raise invalid(_errors_of(form))
        run = importers.start(
            study=self.study, importer=importer, files=form.files_by_role, options=form.options, by=self.user
        )
        where = request.build_absolute_uri(reverse("api_run", args=[self.study.slug, run.key]))
        shown = RunRow(Run.objects.with_unit_counts().get(pk=run.pk)).data
        return Response(shown, status=202, headers={"Location": where})


def invalid(fields: dict[str, list[tuple[str, str]]]) -> Problem:
    """Return the problem of invalid form fields, from the messages and codes of each."""
    errors = [
        {"pointer": f"#/{field}", "detail": detail, "code": code} for field in fields for detail, code in fields[field]
    ]
    return validation_problem(errors)


def _errors_of(form: forms.Form) -> dict[str, list[tuple[str, str]]]:
    errors = form.errors.get_json_data()
    return {field: [(one["message"], one["code"]) for one in errors[field]] for field in errors}
