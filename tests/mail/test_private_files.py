"""Emails in files are for their owner alone."""

from pathlib import Path

from django.core.mail import get_connection
from django.core.mail.message import EmailMessage

BACKEND = "crowdrag.mail.private_files.EmailBackend"


def test_the_folder_and_its_files_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "mail"
    connection = get_connection(BACKEND, file_path=str(folder))
    assert connection.send_messages([EmailMessage("a subject", "a link", "a@example.org", ["b@example.org"])] * 2) == 2
    (file,) = folder.iterdir()
    assert file.read_text().count("a link") == 2
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_folder_that_the_operator_created_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    get_connection(BACKEND, file_path=str(tmp_path))
    assert tmp_path.stat().st_mode & 0o777 == 0o750
