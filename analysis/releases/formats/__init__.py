"""A release as files: formats that keep everything, one for spreadsheets, and those that the field's tools read.

`writing.write` writes a folder; docs/reference/release-formats.md describes it to those who load it.
"""
