"""The classes that endpoints are made of (docs/guides/api.md says how)."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
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
from crowdrag.accounts.enums import Scope
from crowdrag.accounts.models import ApiToken
from crowdrag.studies.access import ARCHIVED, UNAUDITED_STATUSES, audit_subject, record_access
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Participant, Study, User
from crowdrag.studies.study.models import StudyQuerySet

from . import rate_limits
from .idempotency import answer_once
from .pagination import KeysetPagination
from .problems import Problem, filter_problem, validation_problem

SAFE = ("GET", "HEAD")
# What answers with the thing as it is, so that its ETag can be given.
SHOWING = (*SAFE, "PATCH", "PUT")
M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Need:
    """What somebody needs for a method: a role in the study (None where there is no study), and a token's scope."""

    role: Role | None
    scope: Scope = Scope.READ


class Endpoint(generics.GenericAPIView[Any]):
    """One address of the API.

    A subclass names what each of its methods needs (`needs`); a method without an entry is not there. Where the
    address has `<slug:study>`, `self.study` is that study and `self.role` the role in it: whoever is no member, or
    whose token is not for it, gets 404; a role or scope that is too low 403.

    A method makes one domain call. What is wrong is raised as `Problem`.
    """

    needs: ClassVar[dict[str, Need]] = {}
    # Parameters of the address beside those of filters and pages; all others are refused, so that none is misspelt.
    parameters: ClassVar[frozenset[str]] = frozenset()
    # How many bytes may come: an endpoint that takes files says so; None where what comes is read at once.
    largest: ClassVar[int | None] = None
    # What it shows of people who take part, if it does: whoever asks is noted, as on pages (`studies.access.audited`).
    shows: ClassVar[AuditedContent | None] = None
    # Methods that are answered in an archived study too, which otherwise is only read.
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
        """Return the view, marked as one that checks by itself who may ask."""
        view: Any = super().as_view(**initkwargs)
        view.access = "api"
        view.checks_body = True
        return view

    @property
    def user(self) -> User:
        """Who asks."""
        assert isinstance(self.request.user, User)
        return self.request.user

    @property
    def token(self) -> ApiToken | None:
        """By which token; None for somebody who is signed in on pages."""
        return self.request.auth if isinstance(self.request.auth, ApiToken) else None

    # What methods use.

    def studies(self) -> StudyQuerySet:
        """Return the studies that may be read, each with the person's `role` in it."""
        studies = Study.objects.for_user(self.user).with_role(self.user)
        return tokens.readable_studies(studies, self.token) if self.token else studies

    def validated(self, kind: type[serializers.Serializer[Any]], **options: Any) -> dict[str, Any]:
        """Return what came with the request, checked and typed."""
        reader = kind(data=self.request.data, context=self.get_serializer_context(), **options)
        reader.is_valid(raise_exception=True)
        fields: dict[str, Any] = reader.validated_data
        return fields

    def one(self, rows: QuerySet[M], **which: Any) -> M:
        """Return the row that the address names; there is nothing here (404) where there is none."""
        row = rows.filter(**which).first()
        if row is None:
            raise Problem("not-found")
        return row

    def about(self, participant: Participant | None, work_key: int | None = None) -> None:
        """Say whom the answer is about, and by its key which piece of their work, for whoever notes who looked."""
        audit_subject(self.request._request, participant, work_key)

    @contextmanager
    def unchanged(self, rows: QuerySet[M], kind: type[serializers.BaseSerializer[Any]]) -> Iterator[M]:
        """Give the one of these rows, locked; refuse (412) if it is not as If-Match says that it was read.

        `kind` is the serializer that GET answers with: an ETag is one of what was shown.
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

    # How a request passes.

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer a request: as the framework does, but once for each Idempotency-Key, and with an ETag."""
        self.args, self.kwargs = args, kwargs
        self.request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        response: HttpResponseBase
        try:
            self.initial(self.request, *args, **kwargs)
            handler = getattr(self, str(self.request.method).lower(), self.http_method_not_allowed)
            study = getattr(self, "study", None)
            response = answer_once(self.request, study, lambda: handler(self.request, *args, **kwargs))
        except Exception as error:  # noqa: BLE001 -- every one is answered
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
        """Know who asks, count the request, and decide whether they may."""
        self._check_size()
        super().initial(request, *args, **kwargs)
        self._check_parameters()

    def check_permissions(self, request: Request) -> None:
        """Decide whether this may be asked; sets `study` and `role`."""
        super().check_permissions(request)
        self._count()
        method = "GET" if request.method == "HEAD" else str(request.method)
        if method not in self.needs:
            raise exceptions.MethodNotAllowed(str(request.method))
        need = self.needs[method]
        if "study" in self.kwargs:
            self._enter(self.kwargs["study"])
            if need.role is not None and self.role < need.role:
                raise Problem("forbidden", f"You need the role {need.role.label} or higher in this study.")
        self._check_scope(need.scope)
        is_allowed = method in SAFE or method in self.open_when_archived
        if "study" in self.kwargs and self.study.is_archived and not is_allowed:
            raise Problem("conflict", ARCHIVED)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add what every answer says: how much may be asked yet, and that it is for nobody else."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer.headers.setdefault("Cache-Control", "private, no-cache")
        answer.headers.setdefault("Vary", "Accept, Authorization, Cookie")
        if self._standing is not None:
            answer.headers["RateLimit-Policy"] = f'"person";q={settings.API_PER_MINUTE};w=60'
            answer.headers["RateLimit"] = f'"person";r={self._standing.left};t={_round_up(self._standing.full)}'
        return answer

    @property
    def allowed_methods(self) -> list[str]:
        """Say which methods the header Allow names."""
        return [*self.needs, *(["HEAD"] if "GET" in self.needs else [])]

    def _count(self) -> None:
        self._standing = rate_limits.take(user=self.user)
        if self._standing is not None and not self._standing.passes:
            raise Problem("limit", headers={"Retry-After": str(max(_round_up(self._standing.wait), 1))})

    def _enter(self, slug: str) -> None:
        study = Study.objects.for_user(self.user).with_role(self.user).filter(slug=slug).first()
        if study is None:
            raise Problem("not-found")
        self.study = study
        self.role = Role.OWNER if self.user.is_superuser else Role(study.role)  # type: ignore[attr-defined]

    def _check_scope(self, scope: Scope) -> None:
        if self.token is None:
            return
        study = getattr(self, "study", None)
        held = tokens.scopes_in(self.token, study)
        # A study that the token is not for is as good as not there.
        if study is not None and Scope.READ not in held:
            raise Problem("not-found")
        if scope not in held and not (study is None and scope == Scope.READ):
            raise Problem("scope", f"Your token needs the scope {scope.value}.")

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
        # One that a script forgot to fill in must not give all rows.
        if empty := sorted(name for name, value in self.request.query_params.items() if not value):
            raise _parameter_errors(
                empty, "This parameter has no value. Enter a value or remove the parameter.", "empty"
            )

    def _listed_by(self) -> set[str]:
        return set()


def _required_etags(request: Request) -> list[str]:
    """Return the ETags of If-Match; refuse one that cannot be read, as somebody relies on it."""
    header = request.headers.get("If-Match", "").strip()
    etags = parse_etags(header)
    if header and not etags:
        raise Problem("malformed", "If-Match must be an ETag exactly as received, including the quotation marks, or *.")
    return etags


def _parameter_errors(parameters: list[str], text: str, code: str) -> Problem:
    return validation_problem([{"parameter": name, "detail": text, "code": code} for name in parameters])


class ListEndpoint(Endpoint):
    """An address whose GET lists rows: filtered, in order, a page at a time.

    A subclass names `queryset` (whose rows), `serializer_class` (how one is shown), `order` (fields of which the last
    is unique and none is ever null) and, if it has filters, `filterset_class`. Related rows that the serializer shows
    come with the rows (`select_related`, `prefetch_related`, annotations): a page costs the same number of queries
    whatever its size, and a test walks all lists to see it.
    """

    order: ClassVar[tuple[str, ...]] = ("id",)
    filterset_class: ClassVar[Any] = None
    pagination_class = KeysetPagination
    filter_backends = (DjangoFilterBackend,)

    def rows(self) -> QuerySet[Any]:
        """Return the rows that the list is of: those of the study."""
        return self.get_queryset().filter(study=self.study)

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Answer with a page of the list."""
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
    """Return what tells one content from another."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def conditional(request: Request, response: HttpResponseBase) -> HttpResponseBase:
    """Give what was shown its ETag; answer that it has not changed (304) to whoever has it already."""
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
    """Round up: who waits so long waits long enough."""
    return int(-(-duration // 1))
