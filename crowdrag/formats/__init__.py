"""Formats of dates, by language, where Django's are not the ones we want: 24 hours, and short months in English."""
