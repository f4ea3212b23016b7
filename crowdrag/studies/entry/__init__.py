"""Entry into a study: links, keys, platforms, and enrolment."""
