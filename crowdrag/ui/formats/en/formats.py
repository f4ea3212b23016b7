"""Formats of dates and times on English pages: 27 Nov 2026, 13:48."""

DATE_FORMAT = SHORT_DATE_FORMAT = "j M Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "j M Y, H:i"
YEAR_MONTH_FORMAT = "M Y"
MONTH_DAY_FORMAT = "j M"
