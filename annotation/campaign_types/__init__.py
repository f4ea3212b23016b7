"""Types of campaigns: what is shown, what is asked, and what judges read about it."""
