"""What each page of results shows: rows of a run's tables, arranged."""
