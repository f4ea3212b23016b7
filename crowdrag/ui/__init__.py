"""The user interface's components: template tags, Markdown, CSV export, and error pages."""
