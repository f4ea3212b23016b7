"""S3-compatible storage: files are returned byte for byte, and ranges can be read."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from botocore.config import Config
from botocore.exceptions import ClientError
from storages.backends.s3 import S3Storage as Storage
from storages.utils import clean_name

CHUNK = 1024 * 1024
#: How long a signed URL is valid, in seconds: long enough to start a download, which then continues.
SIGNED_SECONDS = 3600


class S3Storage(Storage):  # type: ignore[misc] # it comes without types
    """An S3-compatible storage.

    `public_endpoint_url` is the URL for browsers, if it differs from ours (a container's, say). `redirects` says
    whether browsers are redirected there at all; if not, files are sent by us.
    """

    def get_default_settings(self) -> dict[str, Any]:
        """Return the defaults: no large data in memory, nothing public, no checksums that some servers do not know."""
        config = Config(
            signature_version="s3v4",
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            retries={"mode": "standard", "max_attempts": 5},
            s3={"addressing_style": getattr(self, "_style", None) or "auto"},
        )
        defaults: dict[str, Any] = super().get_default_settings()
        return defaults | {
            "client_config": config,
            "max_memory_size": 2 * CHUNK,
            "querystring_expire": SIGNED_SECONDS,
            "default_acl": None,
            "public_endpoint_url": "",
            "redirects": True,
        }

    def __init__(self, **settings: Any) -> None:
        self._given = settings
        self._style = settings.get("addressing_style")
        super().__init__(**settings)

    def _get_write_parameters(self, name: str, content: Any = None) -> dict[str, Any]:
        # For a name that ends in .gz it would tell browsers to unpack the file: then no checksum matches any more.
        parameters: dict[str, Any] = super()._get_write_parameters(name, content)
        if parameters.pop("ContentEncoding", None) is not None:
            parameters["ContentType"] = "application/gzip"
        return parameters

    def signed(self, name: str, *, filename: str, media_type: str) -> str:
        """Return a URL that gives anybody access to a file for a while, as a download of this name."""
        parameters = {
            "ResponseContentDisposition": f'attachment; filename="{filename}"',
            "ResponseContentType": media_type,
        }
        return str(self._outside.url(name, parameters=parameters, expire=SIGNED_SECONDS))

    def part(self, name: str, first: int, last: int) -> Iterator[bytes]:
        """Return a range of a file, first and last byte included, in chunks.

        Raises
        ------
        FileNotFoundError
            if the file does not exist.
        """
        key = self._normalize_name(clean_name(name))
        try:
            response = self.bucket.Object(key).get(Range=f"bytes={first}-{last}")
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                raise FileNotFoundError(name) from error
            raise
        body: Iterator[bytes] = response["Body"].iter_chunks(CHUNK)
        return body

    @cached_property
    def _outside(self) -> "S3Storage":
        if not self.public_endpoint_url:
            return self
        return S3Storage(**self._given | {"endpoint_url": self.public_endpoint_url, "public_endpoint_url": ""})
