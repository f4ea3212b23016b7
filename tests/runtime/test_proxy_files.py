"""The proxies' files: correct by the proxies' own word where they are installed, and large bodies only for files."""

import re
import shutil
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.utils import timezone

from crowdrag.request_limits import MAX_IMPORT_BYTES
from crowdrag.runtime.data_folder import REPOSITORY
from tests.studies.test_access import ROUTES, filled

PLACE = REPOSITORY / "docs" / "deployment"
NGINX, CADDY = (PLACE / "nginx.conf").read_text(), (PLACE / "Caddyfile").read_text()
TAKES_FILES = [
    filled(route, "mine")
    for route, pattern in ROUTES
    if getattr(getattr(pattern.callback, "cls", None), "largest", None)
    or (getattr(pattern.callback, "checks_body", False) and pattern.callback.access != "api")
]


def blocks(name: str) -> dict[str, str]:
    """What follows `location` to what is in its braces."""
    return dict(re.findall(rf"{name} ([^{{]+) \{{\n((?:(?!    \}}).*\n)*)", NGINX))


def test_nginx_holds_nothing_large_of_nobody() -> None:
    """A body that it keeps is on the disk before the application is asked, so that it must be small."""
    (pattern,) = (where[2:] for where, lines in blocks("location").items() if "proxy_request_buffering off" in lines)
    assert "client_max_body_size 2g" in blocks("location")[f"~ {pattern}"]
    assert NGINX.count("client_max_body_size 2g") == 1
    paths = [filled(route, "mine") for route, _ in ROUTES]
    assert sorted(path for path in paths if re.search(pattern, path)) == sorted(TAKES_FILES)
    (small,) = re.findall(r"^    client_max_body_size (\d+)m;", NGINX, re.MULTILINE)
    assert int(small) * 1024**2 >= max(settings.API_MAX_BODY_BYTES, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def test_proxies_take_as_much_as_the_application() -> None:
    assert MAX_IMPORT_BYTES == 2 * 1024**3
    assert "max_size 2GiB" in CADDY
    assert "client_max_body_size 2g;" in NGINX


def test_the_guide_shows_what_is_in_nginx_conf() -> None:
    guide = (REPOSITORY / "docs" / "guides" / "deployment.md").read_text()
    (snippet,) = re.findall(r"```nginx\n(.*?)```", guide, re.DOTALL)
    assert snippet.replace(" down;", ";") in NGINX
    assert snippet.count(" down;") == 1


def certificate(folder: Path) -> None:
    key, now = ec.generate_private_key(ec.SECP256R1()), timezone.now()
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "study.example.org")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    (folder / "site.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "site.key").write_bytes(key.private_bytes(*form))


@pytest.mark.skipif(not shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin"), reason="nginx is not here")
def test_nginx_reads_its_file(tmp_path: Path) -> None:
    certificate(tmp_path)
    site = re.sub(r"web-\d", "127.0.0.1", NGINX).replace("/etc/ssl/study.example.org", str(tmp_path / "site"))
    site = site.replace("listen 80;", "listen 127.0.0.1:18081;").replace("listen 443", "listen 127.0.0.1:18444")
    main = tmp_path / "nginx.conf"
    main.write_text(f"pid {tmp_path}/pid;\nerror_log {tmp_path}/log;\nevents {{ }}\nhttp {{\n{site}\n}}\n")
    path = "/usr/sbin:/usr/local/sbin:/usr/bin"
    nginx = str(shutil.which("nginx", path=path))
    said = subprocess.run([nginx, "-t", "-q", "-c", str(main)], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("caddy"), reason="caddy is not here")
def test_caddy_reads_its_file(tmp_path: Path) -> None:
    said = subprocess.run(
        ["caddy", "validate", "--adapter", "caddyfile", "--config", str(PLACE / "Caddyfile")],
        env={"SITE": "study.example.org", "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr
