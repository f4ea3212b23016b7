"""Other processes on the database of the test."""

import os
import subprocess
import sys
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.db import connection


def python(*arguments: str, **environment: str) -> "subprocess.Popen[bytes]":
    """Start Python with these arguments, and Django's settings as they are here."""
    url = urlsplit(os.environ["DATABASE_URL"])
    own = {
        "DJANGO_SETTINGS_MODULE": "crowdrag.settings",
        "DATABASE_URL": urlunsplit(url._replace(path="/" + str(connection.settings_dict["NAME"]))),
    }
    return subprocess.Popen(
        [sys.executable, *arguments], cwd=settings.BASE_DIR, env=os.environ | own | environment, stderr=subprocess.PIPE
    )
