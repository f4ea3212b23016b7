"""How people come into a study: links, keys, platforms, and enrolment by them."""
