"""French dates: 30 novembre 2026 à 14:09."""

DATETIME_FORMAT = "j F Y \\à H:i"
