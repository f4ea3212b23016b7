"""All settings, in one file, from the environment. Missing or invalid values raise an error at start.

`crowdrag up`, `crowdrag demo` and all other `crowdrag` commands set the addresses and keys of the services that they
start. For services that an operator runs, these come from the environment (docs/guides/operators.md).
"""

from pathlib import Path

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from crowdrag import __version__
from crowdrag.runtime.request_buffer import LARGEST_BUFFERED
from crowdrag.storage import storage_settings

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()


def required(name: str, what: str) -> str:
    """Return a required environment variable; if it is not set, raise an error that explains it."""
    value: str = env.str(name, default="")
    if not value:
        raise ImproperlyConfigured(f"{name} is not set: {what}. `crowdrag up` sets it; see docs/guides/operators.md.")
    return value


VERSION = __version__
DEBUG = env.bool("DEBUG", default=False)
DATA_DIR = Path(env.str("CROWDRAG_DATA_DIR", default=str(BASE_DIR / "var"))).resolve()

# Three keys, so that each can be stored, rotated or destroyed separately (docs/adr/0003).
SECRET_KEY = required("SECRET_KEY", "it signs sessions and links")
PSEUDONYM_KEY = required("CROWDRAG_PSEUDONYM_KEY", "it makes pseudonyms of platform ids")
IDENTITY_KEY = required("CROWDRAG_IDENTITY_KEY", "it encrypts platform ids (a Fernet key)")

ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "csp",
    "pgtrigger",
    "rest_framework",
    "knox",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "crowdrag.studies",
    "crowdrag.accounts",
    "crowdrag.ui",
    "crowdrag.audit",
    "crowdrag.api",
    "crowdrag.llm",
    "crowdrag.jobs",
    "crowdrag.mail",
    "crowdrag.webhooks",
    "crowdrag.recruitment",
    "crowdrag.payments",
    "writing",
    "annotation",
    "analysis",
    "crowdrag.operations",
    "crowdrag.demo",
]

MIDDLEWARE = [
    "crowdrag.request_limits.refuse_bad_port",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "crowdrag.content_policy.send_policy",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "crowdrag.operations.health.probes",
    "crowdrag.operations.metrics.count_requests",
    "crowdrag.request_limits.RequestLimits",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "crowdrag.studies.page_language.reset_language",
]

ROOT_URLCONF = "crowdrag.urls"
WSGI_APPLICATION = "crowdrag.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "crowdrag.studies.navigation.context",
            ],
            "builtins": ["django.templatetags.i18n", "django.templatetags.static"],
        },
    },
]

# PostgreSQL everywhere (docs/adr/0001). Connections are checked before use, to recover from a database restart.
DATABASES = {"default": env.db_url("DATABASE_URL", default="postgresql://postgres@localhost/crowdrag")}
DATABASES["default"].update(
    CONN_MAX_AGE=60,
    CONN_HEALTH_CHECKS=True,
)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "studies.User"
# Django's own backend, with a limit on password attempts (docs/adr/0025).
AUTHENTICATION_BACKENDS = ["crowdrag.accounts.authentication.GuardedBackend"]
# The number of trusted proxies in front of the web processes. The outermost one determines a request's address.
PROXIES = env.int("CROWDRAG_PROXIES", default=0)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "studies"
LOGOUT_REDIRECT_URL = "login"

# Researchers' pages are in English. Participants' pages are in their study's language if it is one of these
# (crowdrag/studies/page_language.py); `make messages` writes the catalogues.
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("fr", "Français"), ("es", "Español")]
LOCALE_PATHS = [BASE_DIR / "crowdrag" / "locale"]
FORMAT_MODULE_PATH = "crowdrag.formats"
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
COMPRESS_STATIC = env.bool("CROWDRAG_COMPRESS_STATIC", default=True)
STATIC_ROOT = Path(env.str("CROWDRAG_STATIC_ROOT", default=str(DATA_DIR / "staticfiles")))
# The documentation site as `make docs` builds it (docs/adr/0036).
DOCS_ROOT = Path(env.str("CROWDRAG_DOCS_ROOT", default=str(BASE_DIR / "build" / "docs")))
MEDIA_ROOT = DATA_DIR / "files"
# Uploaded and generated files: a local folder, or S3-compatible storage (docs/guides/releases.md).
try:
    FILES = storage_settings(env.str("STORAGE_URL", default=""))
except ValueError as error:
    raise ImproperlyConfigured(f"STORAGE_URL: {error} See docs/guides/releases.md.") from None
STORAGES = {
    "default": FILES,
    "staticfiles": {
        "BACKEND": env.str("STATICFILES_STORAGE", default="crowdrag.static_files.HashedStaticFilesStorage"),
    },
}
# Pages name files by their hashes alone.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
# Bodies up to this size are kept in memory; most pages accept nothing larger. Uploads are written to disk in chunks, as
# long as the reserve for the database stays free (crowdrag/request_limits.py).
DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = LARGEST_BUFFERED
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "crowdrag.request_limits.DiskReserveUploadHandler",
]
DISK_RESERVE = env.int("CROWDRAG_RESERVE_MB", default=200) * 1024 * 1024
FILE_UPLOAD_TEMP_DIR = env.str("FILE_UPLOAD_TEMP_DIR", default=None)

# Celery (reliability: docs/architecture.md). Messages may be lost or repeated, but work is never lost or done twice.
BROKER_URL = env.str("BROKER_URL", default="redis://localhost:6379/0")
CELERY_BROKER_URL = BROKER_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600, "socket_keepalive": True}
# Requests must not wait for an unavailable broker: the sweep wakes Celery later.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 10
CELERY_TASK_SERIALIZER = "json"
# Queues whose workers run only while there is work (crowdrag/runtime/layouts.py).
ON_DEMAND_QUEUES = frozenset(env.list("CROWDRAG_ON_DEMAND", default=[]))

# The OpenAI-compatible server of the local language model; empty if there is none.
LLM_URL = env.str("CROWDRAG_LLM_URL", default="")
# The allowed hosts of model endpoints; empty for all that the address rules allow.
LLM_HOSTS = env.list("CROWDRAG_LLM_HOSTS", default=[])

# Prolific (docs/guides/prolific.md). The token and the secret of its hooks are read from CROWDRAG_PROLIFIC_TOKEN and
# CROWDRAG_PROLIFIC_HOOK_SECRET on use, and are not stored.
PROLIFIC_URL = env.str("CROWDRAG_PROLIFIC_URL", default="https://api.prolific.com/api/v1/")
PROLIFIC_WORKSPACE = env.str("CROWDRAG_PROLIFIC_WORKSPACE", default="")
PROLIFIC_PROJECT = env.str("CROWDRAG_PROLIFIC_PROJECT", default="")
# The short names of the studies that may use the account; empty for all.
PROLIFIC_STUDIES = env.list("CROWDRAG_PROLIFIC_STUDIES", default=[])
# Prolific's fee in per cent of payments, for estimates if Prolific does not report a study's cost.
PROLIFIC_FEE_PERCENT = env.float("CROWDRAG_PROLIFIC_FEE_PERCENT", default=None)
# Whether to allow a local stand-in for Prolific without TLS, for testing.
PROLIFIC_LOOPBACK = env.bool("CROWDRAG_PROLIFIC_LOOPBACK", default=False)

# Neural metrics (docs/guides/operators.md). The models for BERTScore, as NAME or NAME:LAYER, default first; and whether
# a worker of the queue `gpu` has a device: then metrics are computed there, otherwise on any worker.
BERTSCORE_MODELS = env.list("CROWDRAG_BERTSCORE_MODELS", default=["all-MiniLM-L6-v2"])
HAS_GPU_WORKER = env.bool("CROWDRAG_GPU", default=Path("/dev/nvidia0").exists())
# Experiments: the allowed retrievers with a model, as dense:NAME or splade:NAME, and entailment models by name.
RETRIEVERS = env.list("CROWDRAG_RETRIEVERS", default=["dense:all-MiniLM-L6-v2"])
# Indexes of corpora (docs/guides/retrieval.md): a local folder that all machines which build or use them share.
INDEX_ROOT = Path(env.str("CROWDRAG_INDEX_DIR", default=str(DATA_DIR / "indexes")))
# Servers of OpenSearch or Elasticsearch by name: NAME=URL, separated by commas.
SEARCH_SERVERS = env.dict("CROWDRAG_SEARCH_SERVERS", default={})
ENTAILMENT_MODELS = env.list("CROWDRAG_ENTAILMENT_MODELS", default=[])
# The models that workers may load for generation (docs/guides/gpu.md): a bundle, a folder, or a name on a hub.
GENERATOR_MODELS = env.list("CROWDRAG_GENERATORS", default=["SmolLM2-135M-Instruct"])

# Webhooks (docs/guides/webhooks.md): allowed hosts in the operator's own network, also without TLS.
WEBHOOK_LOCAL_HOSTS = env.list("CROWDRAG_WEBHOOK_LOCAL_HOSTS", default=[])

# Email (docs/guides/email.md): the URL of the mail server, or of a folder for testing. Without it, members' invitations
# are written to a folder in the data folder, and participants are not asked for an address.
EMAIL_URL = env.str("EMAIL_URL", default="")
MAIL_FOLDER = DATA_DIR / "mail"
SENDS_MAIL = EMAIL_URL != ""
HAS_MAIL_SERVER = EMAIL_URL.startswith("smtp")
_email = env.email_url_config(EMAIL_URL or f"filemail:///{MAIL_FOLDER}")
if _email["EMAIL_FILE_PATH"]:
    _email["EMAIL_BACKEND"] = "crowdrag.mail.private_files.EmailBackend"
vars().update(_email)
EMAIL_TIMEOUT = env.int("EMAIL_TIMEOUT", default=30)
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="CrowdRAG <crowdrag@localhost>")

# Metrics for monitoring (docs/guides/operations.md): access to /metrics by a token or from networks. If neither is set,
# only operators have access.
METRICS_TOKEN = env.str("CROWDRAG_METRICS_TOKEN", default="")
METRICS_ADDRESSES = env.list("CROWDRAG_METRICS_ADDRESSES", default=[])

# Security: nothing is loaded from other hosts, and there are no inline scripts or styles.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
HTTPS = env.bool("HTTPS", default=not DEBUG)
SECURE_SSL_REDIRECT = HTTPS and env.bool("SECURE_SSL_REDIRECT", default=True)
# Health checks come from the same network, without TLS.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
if proxy_header := env.str("SECURE_PROXY_SSL_HEADER", default=""):
    SECURE_PROXY_SSL_HEADER = (proxy_header, "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_ENGINE = "crowdrag.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
# Configurable so that two installations on one machine do not share cookies on localhost.
SESSION_COOKIE_NAME = env.str("SESSION_COOKIE_NAME", default="crowdrag_session")
CSRF_COOKIE_NAME = env.str("CSRF_COOKIE_NAME", default="crowdrag_csrf")
X_FRAME_OPTIONS = "DENY"

# The API (docs/guides/api.md). Endpoints check permissions themselves: crowdrag/api/endpoints.py.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "crowdrag.accounts.authentication.BearerTokenAuthentication",
        "crowdrag.accounts.authentication.PageSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["crowdrag.api.serializers.StorableJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "crowdrag.api.pagination.KeysetPagination",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "crowdrag.api.schema.EndpointSchema",
    "EXCEPTION_HANDLER": "crowdrag.api.problems.handle_exception",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "URL_FORMAT_OVERRIDE": None,
}
# Tokens have a recognisable prefix, so that secret scanners find leaked ones.
KNOX_TOKEN_MODEL = "accounts.ApiToken"  # noqa: S105 -- the name of a model
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_PREFIX": "crowdrag_"}
# CrowdRAG's token model replaces knox's, whose tables are not created.
MIGRATION_MODULES = {"knox": None}
# The average number of requests per minute and user (0 for no limit), the size of a burst, and the largest body without
# files.
API_PER_MINUTE = env.int("CROWDRAG_API_PER_MINUTE", default=600)
API_AT_ONCE = env.int("CROWDRAG_API_AT_ONCE", default=100)
API_MAX_BODY_BYTES = 10 * 1024 * 1024
SPECTACULAR_SETTINGS = {
    "TITLE": "CrowdRAG",
    "DESCRIPTION": "Scripts can do everything that researchers do on the pages of a study.",
    "VERSION": __version__,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "PATH_CONVERTER_OVERRIDES": {"identifier": str},
    "COMPONENT_SPLIT_REQUEST": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "RunStateEnum": "crowdrag.jobs.enums.RunState",
        "OriginEnum": "writing.enums.Origin",
        "CampaignKindEnum": "annotation.enums.CampaignKind",
        "PersonalKindEnum": "analysis.enums.PersonalKind",
        "CampaignStateEnum": "annotation.enums.CampaignState",
        "AssignmentStateEnum": "annotation.enums.AssignmentState",
        "JudgesEnum": "annotation.enums.Judges",
        "ReleaseStateEnum": "analysis.enums.ReleaseState",
        "WebhookStateEnum": "crowdrag.webhooks.enums.WebhookState",
        "DeliveryStateEnum": "crowdrag.webhooks.enums.DeliveryState",
        "TaskStateEnum": "writing.enums.TaskState",
        "TopicsWrittenEnum": "writing.llm_writers.targets.TopicSelection",
        "ItemsJudgedEnum": "annotation.llm_judges.stimuli.ItemSelection",
        "AnswerOutcomeEnum": "writing.enums.AnswerOutcome",
        "JudgingOutcomeEnum": "annotation.enums.JudgingOutcome",
        "GoalKindEnum": "annotation.enums.GoalKind",
        "GoalOutcomeEnum": "annotation.enums.GoalOutcome",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "crowdrag.api.schema.close_request_bodies",
    ],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    # Log lines contain no values of database rows (crowdrag/log_formatter.py).
    "formatters": {
        "line": {"()": "crowdrag.log_formatter.LogFormatter", "fmt": "%(asctime)s %(levelname)s %(name)s: %(message)s"}
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
    # No line for each of thousands of model calls: the gateway stores each attempt as a row.
    "loggers": {"httpx2": {"level": "WARNING"}, "httpx": {"level": "WARNING"}},
}
