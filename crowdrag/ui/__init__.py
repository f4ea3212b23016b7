"""The user interface's components: template tags, Markdown, tables as CSV, and pages that say what went wrong."""
