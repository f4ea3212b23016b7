"""Write emails to files that only their owner can read: they contain links by which people sign in or join."""

import os
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.mail.backends import filebased


class EmailBackend(filebased.EmailBackend):
    """Django's backend for files, with a private folder (if it creates it) and private files."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        folder = str(kwargs.get("file_path") or getattr(settings, "EMAIL_FILE_PATH", ""))
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        super().__init__(*args, **kwargs)

    def open(self) -> bool:
        """Open the file, which is created with mode 0600; return whether it was closed before."""
        if self.stream is not None:
            return False
        descriptor = os.open(self._get_filename(), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.stream = os.fdopen(descriptor, "ab")
        return True
