"""A release as files: formats that keep everything, one for spreadsheets, and those that the field's tools read.

`writing.write` writes a folder; docs/guides/release-formats.md describes it to those who load it.
"""
