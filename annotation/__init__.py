"""Campaigns, pairs, questionnaires, assignments and judgments."""
