"""The leaderboard (docs/methods/leaderboard.md)."""
