"""English dates with a short month and 24 hours: 30 Nov 2026, 14:09."""

DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i"
