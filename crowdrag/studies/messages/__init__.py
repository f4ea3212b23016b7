"""Questions, problem reports and contested decisions of participants, and the researchers' answers."""
