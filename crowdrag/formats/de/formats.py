"""German dates: 30. November 2026, 14:09."""

DATETIME_FORMAT = "j. F Y, H:i"
