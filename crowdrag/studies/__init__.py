"""Studies, their members and roles, participants and consent."""
