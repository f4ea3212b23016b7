"""Where files lie, said in one line."""

import pytest

from crowdrag import storage


def test_without_an_address_files_lie_in_a_folder_of_this_machine() -> None:
    assert storage.storage_settings("") == {"BACKEND": "django.core.files.storage.FileSystemStorage"}


def test_bucket_prefix_and_server_are_read() -> None:
    found = storage.storage_settings(
        "s3://corpora/of/ours?endpoint=http://minio:9000&public=https://files.example.org&region=eu"
    )
    assert found["BACKEND"] == "crowdrag.storage.s3.S3Storage"
    assert found["OPTIONS"] == {
        "bucket_name": "corpora",
        "location": "of/ours",
        "endpoint_url": "http://minio:9000",
        "public_endpoint_url": "https://files.example.org",
        "region_name": "eu",
        "addressing_style": "path",
        "redirects": True,
    }


def test_a_bucket_of_a_large_provider_needs_no_server() -> None:
    assert storage.storage_settings("s3://corpora")["OPTIONS"] == {
        "bucket_name": "corpora",
        "location": "",
        "redirects": True,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        "https://corpora.example.org",
        "s3:///prefix",
        "s3://key:secret@corpora",
        "s3://corpora?endpont=http://minio:9000",
        "s3://corpora?redirect=maybe",
        "s3://corpora?endpoint",
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        storage.storage_settings(wrong)
