"""Storage of uploads and results: a folder of this machine, or S3-compatible storage.

The place is given in one line, as for other services: `s3://bucket/prefix?endpoint=https://…`. The settings read it
here, so this module imports neither Django nor an app; the storage itself is `s3`.
"""

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

LOCAL = "django.core.files.storage.FileSystemStorage"
S3 = "crowdrag.storage.s3.S3Storage"
#: Allowed query parameters, and the option that each sets.
OPTIONS = {
    "endpoint": "endpoint_url",
    "public": "public_endpoint_url",
    "region": "region_name",
    "style": "addressing_style",
    "redirect": "redirects",
}


def storage_settings(address: str) -> dict[str, Any]:
    """Return the entry of Django's STORAGES for this URL; empty: the folder of this machine.

    Raises
    ------
    ValueError
        if it is invalid, or contains a secret: keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from
        wherever else boto3 finds them, and never from the URL.
    """
    if not address:
        return {"BACKEND": LOCAL}
    parts = urlsplit(address)
    if parts.scheme != "s3" or not parts.hostname:
        raise ValueError("It is s3://BUCKET or s3://BUCKET/PREFIX?endpoint=https://HOST, or empty.")
    if "@" in parts.netloc:
        raise ValueError("Keys do not stand in it: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
    query_options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    if unknown := sorted(set(query_options) - set(OPTIONS)):
        raise ValueError(f"It may say {', '.join(OPTIONS)}, but not {', '.join(unknown)}.")
    options: dict[str, Any] = {OPTIONS[name]: values[-1] for name, values in query_options.items()}
    if options.setdefault("redirects", "yes") not in {"yes", "no"}:
        raise ValueError("redirect is yes or no.")
    options["redirects"] = options["redirects"] == "yes"
    if "endpoint_url" in options:
        # A self-hosted server seldom has a host name for each bucket.
        options.setdefault("addressing_style", "path")
    return {"BACKEND": S3, "OPTIONS": {"bucket_name": parts.netloc, "location": unquote(parts.path[1:]), **options}}
