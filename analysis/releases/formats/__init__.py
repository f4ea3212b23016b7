"""File formats of a release: complete ones, one for spreadsheets, and those that tools of the field read.

`release_writer.write_files` writes a folder; docs/reference/release-formats.md describes it for users of the data.
"""
