"""Placement of a new system on the leaderboard: a campaign of pairs against anchors, and where the system stands."""
