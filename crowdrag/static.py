"""Static files get hashed names, the modules that they import too, without a build step (docs/adr/0004)."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc] # it comes without types
    """Hash every file, and rewrite `import` lines inside our ES modules to the hashed names."""

    support_js_module_import_aggregation = True
    # Ours alone, which lie in js/: modules of installed packages (django_htmx's extensions) import by names that only
    # a bundler resolves, and collecting them would fail.
    _js_module_import_aggregation_patterns = (
        "js/*.js",
        CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1],
    )
