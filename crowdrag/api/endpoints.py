"""Base classes of endpoints (see docs/guides/api.md)."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import parse_etags
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import exceptions, generics, serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag import request_limits
from crowdrag.accounts import tokens
from crowdrag.accounts.models import ApiToken
from crowdrag.studies.access import ARCHIVED, UNAUDITED_STATUSES, audit_subject, record_access
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Participant, Study, User
from crowdrag.studies.study.models import StudyQuerySet

from . import permissions, rate_limits
from .idempotency import answer_once
from .pagination import KeysetPagination
from .permissions import Need
from .problems import Problem, filter_problem, validation_problem

SAFE = ("GET", "HEAD")
# Methods that return the current resource, with its ETag.
SHOWING = (*SAFE, "PATCH", "PUT")
M = TypeVar("M", bound=Model)


class Endpoint(generics.GenericAPIView[Any]):
    """An endpoint of the API.

    A subclass defines the requirements of its methods in `needs`; methods without an entry do not exist. If the URL has
    `<slug:study>`, `self.study` is the study and `self.role` the role in it. The response is 404 for users who are not
    members and for tokens of other studies, and 403 if role or scope are insufficient.

    Each method makes one domain call. Errors are raised as `Problem`.
    """

    needs: ClassVar[dict[str, Need]] = {}
    # URL parameters in addition to those of filters and pagination. Others are rejected, so that typos are noticed.
    parameters: ClassVar[frozenset[str]] = frozenset()
    # The maximum size of the body in bytes, for endpoints that accept files; None for the default.
    largest: ClassVar[int | None] = None
    # The participants' data that it shows, if any. Access is recorded, as on pages (`studies.access.audited`).
    shows: ClassVar[AuditedContent | None] = None
    # Methods that are allowed in archived studies, which are otherwise read-only.
    open_when_archived: ClassVar[frozenset[str]] = frozenset()
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    metadata_class = None
    throttle_classes = ()
    pagination_class: type[KeysetPagination] | None = None
    filter_backends: tuple[Any, ...] = ()

    study: Study
    role: Role
    request: Request
    _standing: rate_limits.RateLimitStatus | None = None

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:
        """Return the view, marked as one that checks permissions itself."""
        view: Any = super().as_view(**initkwargs)
        view.access = "api"
        view.checks_body = True
        return view

    @property
    def user(self) -> User:
        """The user of the request."""
        assert isinstance(self.request.user, User)
        return self.request.user

    @property
    def token(self) -> ApiToken | None:
        """The token of the request; None if the user is signed in by session."""
        return self.request.auth if isinstance(self.request.auth, ApiToken) else None

    # Helpers for methods.

    def studies(self) -> StudyQuerySet:
        """Return the readable studies, each with the user's `role`."""
        studies = Study.objects.for_user(self.user).with_role(self.user)
        return tokens.readable_studies(studies, self.token) if self.token else studies

    def validated(self, kind: type[serializers.Serializer[Any]], **options: Any) -> dict[str, Any]:
        """Return the validated data of the request."""
        reader = kind(data=self.request.data, context=self.get_serializer_context(), **options)
        reader.is_valid(raise_exception=True)
        fields: dict[str, Any] = reader.validated_data
        return fields

    def one(self, rows: QuerySet[M], **which: Any) -> M:
        """Return the row for these URL arguments; raise 404 if there is none."""
        row = rows.filter(**which).first()
        if row is None:
            raise Problem("not-found")
        return row

    def about(self, participant: Participant | None, work_key: int | None = None) -> None:
        """Record for the audit log whom the response is about, and the key of their work."""
        audit_subject(self.request._request, participant, work_key)

    @contextmanager
    def unchanged(self, rows: QuerySet[M], kind: type[serializers.BaseSerializer[Any]]) -> Iterator[M]:
        """Yield the only row, locked; raise 412 if it has changed since the client read it (If-Match).

        `kind` is the serializer of GET, because the ETag is computed from its output.
        """
        with transaction.atomic():
            held = rows.model._default_manager.filter(pk__in=rows.order_by().values("pk"))
            if held.select_for_update(of=("self",)).first() is None:
                raise Problem("not-found")
            row = rows.get()
            etags = _required_etags(self.request)
            shown = kind(row, context=self.get_serializer_context()).data
            if etags and etags != ["*"] and etag(JSONRenderer().render(shown)) not in etags:
                raise Problem("changed")
            yield row

    # Processing of a request.

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer a request like the framework, but only once for each Idempotency-Key, and with an ETag."""
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        response: HttpResponseBase
        try:
            self.initial(self.request, *args, **kwargs)
            handler = getattr(self, str(self.request.method).lower(), self.http_method_not_allowed)
            study = getattr(self, "study", None)
            response = answer_once(self.request, study, lambda: handler(self.request, *args, **kwargs))
        except Exception as error:  # noqa: BLE001 -- every exception gets a response
            response = self.handle_exception(error)
        self.response = self.finalize_response(self.request, response, *args, **kwargs)
        if (
            self.shows is not None
            and self.response.status_code < 400
            and self.response.status_code not in UNAUDITED_STATUSES
        ):
            record_access(self.request._request, getattr(self, "study", None), self.shows)
        return conditional(self.request, self.response)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check size, authentication, permission and URL parameters, and count the request."""
        self._check_size()
        super().initial(request, *args, **kwargs)
        self._check_parameters()

    def check_permissions(self, request: Request) -> None:
        """Check that the request is allowed; set `study` and `role`."""
        super().check_permissions(request)
        self._count()
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method not in self.needs:
            raise exceptions.MethodNotAllowed(str(request.method))
        need = self.needs[method]
        if "study" in self.kwargs:
            self.study, self.role = permissions.enter(self.user, self.kwargs["study"])
            permissions.check_role(need, self.role)
        permissions.check_scope(need, self.token, getattr(self, "study", None))
        is_allowed = method in SAFE or method in self.open_when_archived
        if "study" in self.kwargs and self.study.is_archived and not is_allowed:
            raise Problem("conflict", ARCHIVED)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the rate-limit and cache headers to the response."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer.headers.setdefault("Cache-Control", "private, no-cache")
        answer.headers.setdefault("Vary", "Accept, Authorization, Cookie")
        if self._standing is not None:
            answer.headers["RateLimit-Policy"] = f'"person";q={settings.API_PER_MINUTE};w=60'
            answer.headers["RateLimit"] = f'"person";r={self._standing.left};t={_round_up(self._standing.full)}'
        return answer

    @property
    def allowed_methods(self) -> list[str]:
        """Return the methods for the Allow header."""
        return [*self.needs, *(["HEAD"] if "GET" in self.needs else [])]

    def _count(self) -> None:
        self._standing = rate_limits.take(user=self.user)
        if self._standing is not None and not self._standing.passes:
            raise Problem("limit", headers={"Retry-After": str(max(_round_up(self._standing.wait), 1))})

    def _check_size(self) -> None:
        if request_limits.has_no_length(self.request._request):
            raise Problem("length-required")
        length = request_limits.body_length(self.request._request)
        most = settings.API_MAX_BODY_BYTES if self.largest is None else self.largest
        if length > most:
            raise Problem(
                "too-large",
                f"The upload is too large. Send at most {most // 1024 // 1024} MiB at once.",
            )
        if length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE and not request_limits.has_room_for(length):
            raise Problem("no-room")

    def _check_parameters(self) -> None:
        known = self.parameters | self._listed_by()
        if unknown := sorted(set(self.request.query_params) - known):
            raise _parameter_errors(unknown, "This parameter does not exist here.", "unknown")
        # A parameter that a script forgot to fill in must not return all rows.
        if empty := sorted(name for name, value in self.request.query_params.items() if not value):
            raise _parameter_errors(
                empty, "This parameter has no value. Enter a value or remove the parameter.", "empty"
            )

    def _listed_by(self) -> set[str]:
        return set()


def _required_etags(request: Request) -> list[str]:
    """Return the ETags of If-Match; reject an unreadable header because the client relies on it."""
    header = request.headers.get("If-Match", "").strip()
    etags = parse_etags(header)
    if header and not etags:
        raise Problem("malformed", "If-Match must be an ETag exactly as received, including the quotation marks, or *.")
    return etags


def _parameter_errors(parameters: list[str], text: str, code: str) -> Problem:
    return validation_problem([{"parameter": name, "detail": text, "code": code} for name in parameters])


class ListEndpoint(Endpoint):
    """An endpoint whose GET lists rows, filtered, sorted and paginated.

    A subclass defines `queryset`, `serializer_class`, `order` (sort fields: the last is unique and none is null) and,
    if it has filters, `filterset_class`. The queryset must fetch the related rows that the serializer shows
    (`select_related`, `prefetch_related`, annotations), so that the number of queries does not depend on the page
    size; a test checks this for all lists.
    """

    order: ClassVar[tuple[str, ...]] = ("id",)
    filterset_class: ClassVar[Any] = None
    pagination_class = KeysetPagination
    filter_backends = (DjangoFilterBackend,)

    def rows(self) -> QuerySet[Any]:
        """Return the rows of the list; by default, those of the study."""
        return self.get_queryset().filter(study=self.study)

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Return a page of the list."""
        return self.listed(self.rows())

    def listed(self, rows: QuerySet[Any]) -> Response:
        """Return a page of these rows."""
        try:
            page = self.paginate_queryset(self.filter_queryset(rows))
        except exceptions.ValidationError as error:
            raise filter_problem(error) from None
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    def _listed_by(self) -> set[str]:
        if str(self.request.method) not in SAFE:
            return set()
        filters: Mapping[str, Any] = self.filterset_class.base_filters if self.filterset_class else {}
        return {"limit", "cursor", *filters}


def etag(content: bytes) -> str:
    """Return the ETag of a content."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def conditional(request: Request, response: HttpResponseBase) -> HttpResponseBase:
    """Add the ETag to a response; return 304 if the client already has the current version."""
    if (
        not isinstance(response, Response)
        or response.status_code != 200
        or request.method not in {*SAFE, "PATCH", "PUT"}
    ):
        return response
    response.render()
    response["ETag"] = etag(response.content)
    held = [one.removeprefix("W/") for one in parse_etags(request.headers.get("If-None-Match", ""))]
    if request.method in SAFE and (response["ETag"] in held or held == ["*"]):
        unchanged = HttpResponse(status=304)
        for name in ("ETag", "Cache-Control", "Vary", "RateLimit", "RateLimit-Policy"):
            if name in response:
                unchanged[name] = response[name]
        return unchanged
    return response


def _round_up(duration: float) -> int:
    """Round up, so that clients wait long enough."""
    return int(-(-duration // 1))
