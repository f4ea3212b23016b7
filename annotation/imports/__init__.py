"""Import of what judging holds: questionnaires, judgments from elsewhere, the published corpus."""
