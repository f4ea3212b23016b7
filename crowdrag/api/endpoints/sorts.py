"""The sorts of problems that the API answers with. Their names are for good: scripts compare them."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True)
class Sort:
    """A sort of problem: its name for good, its status, what it is, and what to do about it."""

    code: str
    status: int
    title: str | Promise
    remedy: str | Promise


_ALL = [
    Sort(
        "malformed",
        400,
        _("The request cannot be read"),
        _("Send what this endpoint's description asks for, as JSON in UTF-8 unless it says otherwise."),
    ),
    Sort(
        "invalid",
        400,
        _("Something in the request is not as it must be"),
        _("Correct what `errors` names, and send the request again."),
    ),
    Sort(
        "unauthenticated",
        401,
        _("Nobody is signed in"),
        _("Send a token that has not expired, as `Authorization: Bearer crowdrag_…`. Your tokens' page makes one."),
    ),
    Sort(
        "forbidden",
        403,
        _("Your role in this study does not allow it"),
        _("Ask an owner of the study for the role that `detail` names."),
    ),
    Sort(
        "scope",
        403,
        _("The token is not for this"),
        _("Use a token that has the scope which `detail` names; your tokens' page makes one."),
    ),
    Sort(
        "not-found",
        404,
        _("There is nothing here"),
        _(
            "Check the address: all but files' end in a slash. "
            "A study that you or your token may not read is not found."
        ),
    ),
    Sort(
        "method",
        405,
        _("This address does not know the method"),
        _("Use one of the methods that the header Allow names."),
    ),
    Sort(
        "not-acceptable",
        406,
        _("There is no answer in the form that was asked for"),
        _("Accept `application/json`."),
    ),
    Sort(
        "conflict",
        409,
        _("It cannot be done as things stand"),
        _("Read how things stand, and ask for what can be done then."),
    ),
    Sort(
        "under-way",
        409,
        _("A request with this Idempotency-Key is being answered"),
        _("Wait for the seconds in Retry-After, and send the same request again."),
    ),
    Sort(
        "gone",
        410,
        _("It was taken away"),
        _("Ask for what `detail` names in its place."),
    ),
    Sort(
        "length-required",
        411,
        _("The length of the request is missing"),
        _("Send Content-Length. A body in chunks is not read."),
    ),
    Sort(
        "changed",
        412,
        _("It has changed since you read it"),
        _("Read it again, and send your change with the ETag that it has now."),
    ),
    Sort(
        "too-large",
        413,
        _("The request is too large"),
        _("Send less at once, or a file where the endpoint takes one."),
    ),
    Sort(
        "media-type",
        415,
        _("This type of content is not understood here"),
        _("Send `Content-Type: application/json` unless the endpoint's description says otherwise."),
    ),
    Sort(
        "key-reused",
        422,
        _("This Idempotency-Key came with another request before"),
        _("Use a new key for each request; an old one only to send the same request again."),
    ),
    Sort(
        "refused",
        422,
        _("What was sent was read and refused"),
        _("Correct what `errors` names, and send the request again."),
    ),
    Sort(
        "limit",
        429,
        _("Too many requests"),
        _("Wait for the seconds in Retry-After. Lists give up to 1000 rows at once: ask for more with each request."),
    ),
    Sort(
        "error",
        500,
        _("Something went wrong here"),
        _("Send it again, with an Idempotency-Key if it changes something. If it stays, tell the operator."),
    ),
    Sort(
        "no-room",
        507,
        _("The disk of this server is full"),
        _("Nothing was stored. Tell the operator, and send it again later."),
    ),
]
SORTS: dict[str, Sort] = {sort.code: sort for sort in _ALL}
