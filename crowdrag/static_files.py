"""Static files get hashed names, the modules that they import too, without a build step (docs/adr/0004)."""

from collections.abc import Iterable, Iterator

from django.conf import settings
from whitenoise.storage import CompressedManifestStaticFilesStorage

#: Files that no page uses are not collected: compressing them would take a minute, at the first start of every system.
NOT_COLLECTED = (
    "*.map", "redoc", "oauth2-redirect.*", "swagger-ui-standalone-preset.*", "rest_framework", "django_htmx",
    "jquery.js", "select2.full.js", "xregexp.js",
)  # fmt: skip


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # it comes without types
    """Hash every file, and rewrite `import` lines inside our ES modules to the hashed names."""

    # Source maps are left out, and references to them unchanged.
    patterns = tuple(
        (files, tuple(rule for rule in rules if "sourceMappingURL" not in str(rule)))
        for files, rules in CompressedManifestStaticFilesStorage.patterns
    )
    support_js_module_import_aggregation = True
    # A module's name follows from its text, in which the names of those that it imports stand: one pass for each step
    # of the longest way from a page's module to one that imports none. Django's own 5 are too few for the editor.
    max_post_process_passes = 20
    # Ours alone, which lie in js/: modules of installed packages (django_htmx's extensions) import by names that only
    # a bundler resolves, and collecting them would fail. And `import ... from` alone: what looks like a call of
    # `import()` in our files is a type in a comment, by which two modules may well name each other.
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1][:3],
    )

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Compress files beside themselves, which takes most of the time of collecting them."""
        return super().compress_files(paths) if settings.COMPRESS_STATIC else iter(())
