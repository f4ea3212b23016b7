"""The shared parts of the OpenAPI description of endpoints."""

from copy import deepcopy
from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import Direction

from .endpoints import Endpoint, ListEndpoint
from .idempotency import IDEMPOTENCY_HEADER, MAX_KEY_LENGTH
from .problems import MEDIA_TYPE, PROBLEM_TYPES

_ERROR = {
    "type": "object",
    "required": ["detail", "code"],
    "properties": {
        "pointer": {"type": "string", "description": "Location in the body, as a JSON pointer."},
        "parameter": {"type": "string", "description": "Name of the URL parameter."},
        "detail": {"type": "string"},
        "code": {"type": "string"},
    },
}
_PROBLEM = {
    "type": "object",
    "description": "What is wrong, and what to do (RFC 9457).",
    "required": ["type", "code", "title", "status", "detail", "remedy"],
    "properties": {
        "type": {"type": "string", "format": "uri", "description": "URL that explains this type of problem."},
        "code": {"type": "string", "enum": list(PROBLEM_TYPES)},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "Explanation of this occurrence."},
        "remedy": {"type": "string", "description": "What to do."},
        "errors": {"type": "array", "items": _ERROR},
    },
}


class EndpointSchema(AutoSchema):
    """The description of an endpoint: summary and text from the docstring, and the required role and scope."""

    def get_summary(self) -> str | None:
        """Return the first line of the method's docstring; for lists, of the class's docstring."""
        return self._docstring().splitlines()[0] if self._docstring() else None

    def get_description(self) -> str:  # type: ignore[override] # same as in drf-spectacular
        """Return the rest of the docstring, and the required role and scope."""
        text = "\n".join(self._docstring().splitlines()[1:]).strip()
        need = self.view.needs.get(self.method) if isinstance(self.view, Endpoint) else None
        if need is None:
            return text
        who = f"Role: {need.role.label} or higher." if need.role else "Role: any."
        scope = f"Token scope: {need.scope.value}."
        return f"{text}\n\n{who} {scope}".strip()

    def get_tags(self) -> list[str]:
        """Return the tag of an endpoint: a noun of its URL."""
        nouns = [step for step in self.path.strip("/").split("/")[2:] if "{" not in step]
        return [nouns[1] if len(nouns) > 1 else nouns[0]] if nouns else ["api"]

    def _docstring(self) -> str:
        method = getattr(type(self.view), self.method.lower(), None)
        has_own_method = method is not None and method is not ListEndpoint.get
        return (
            str((method.__doc__ if has_own_method else type(self.view).__doc__) or "").replace("\n    ", "\n").strip()
        )

    def _is_list_view(self, serializer: Any = None) -> bool:
        if isinstance(self.view, ListEndpoint) and self.method == "GET":
            return True
        return False if self.method != "GET" or isinstance(self.view, Endpoint) else super()._is_list_view(serializer)

    def _get_parameters(self) -> list[dict[str, Any]]:
        headers = {
            "GET": ("If-None-Match", "The ETag of your copy. The answer is 304 if it is still current.", None),
            "POST": (
                IDEMPOTENCY_HEADER,
                "Makes retries safe: the request takes effect once, and each repetition gets the same answer.",
                MAX_KEY_LENGTH,
            ),
            "PATCH": (
                "If-Match",
                "The ETag that you read. The answer is 412 if the resource has changed since.",
                None,
            ),
            "PUT": (
                "If-Match",
                "The ETag that you read. The answer is 412 if the resource has changed since.",
                None,
            ),
        }
        name, description, longest = headers.get(self.method, ("", "", None))
        parameters: list[dict[str, Any]] = super()._get_parameters()
        if name and isinstance(self.view, Endpoint):
            text: dict[str, Any] = {"type": "string"}
            if longest:
                text |= {"minLength": 1, "maxLength": longest, "pattern": "^[ -~]+$"}
            parameters.append({"name": name, "in": "header", "schema": text, "description": description})
        return parameters

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if not isinstance(self.view, Endpoint) or direction != "response":
            return bodies
        # Copy the schema because a hook of the framework inserts a reference that later descriptions cannot resolve.
        component = ResolvedComponent(  # type: ignore[no-untyped-call]
            name="Problem", type=ResolvedComponent.SCHEMA, schema=deepcopy(_PROBLEM), object="Problem"
        )
        self.registry.register_on_missing(component)
        if self.method == "GET":
            bodies["304"] = {"description": "Your copy is still current."}
        bodies["default"] = {
            "description": "An error.",
            "content": {MEDIA_TYPE: {"schema": component.ref}},
        }
        return bodies


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The description of token authentication."""

    target_class = "crowdrag.accounts.authentication.BearerTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """Return the OpenAPI definition of a bearer token."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "crowdrag_…"}


class PageSessionScheme(SessionScheme):  # type: ignore[no-untyped-call]
    """The description of session authentication, as in the framework's own class."""

    target_class = "crowdrag.accounts.authentication.PageSessionAuthentication"
    priority = 1


def close_request_bodies(result: dict[str, Any], **_options: Any) -> dict[str, Any]:
    """Declare that request bodies reject unknown fields; a hook of drf-spectacular."""
    for name, schema in result.get("components", {}).get("schemas", {}).items():
        if name.endswith("Request") and schema.get("type") == "object" and "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return result
