"""Static files get hashed names, the modules that they import too, without a build step (docs/adr/0004)."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFilesStorage(CompressedManifestStaticFilesStorage):
    """Hash every file, and rewrite `import` lines inside ES modules to the hashed names."""

    support_js_module_import_aggregation = True
