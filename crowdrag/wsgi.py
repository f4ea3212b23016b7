"""The WSGI entry point."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdrag.settings")
application = get_wsgi_application()
# All views are loaded now, and not while somebody waits. What stands then stands for good: the collector need not look
# through its quarter of a million objects, which took a sixth of a second in the middle of some request.
list(get_resolver().url_patterns)
gc.collect()
gc.freeze()
# Objects of an answer refer to each other in rings. Looked for more seldom, they are gone with the young ones: left to
# grow old, those of some dozens of answers stopped one of them for 70 ms at once.
gc.set_threshold(5000, 3, 10)
