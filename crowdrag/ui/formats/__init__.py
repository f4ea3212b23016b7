"""Formats that differ from Django's, by language (the setting `FORMAT_MODULE_PATH`)."""
