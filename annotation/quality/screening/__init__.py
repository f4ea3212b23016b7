"""What a person looks at before they accept or reject judgments (docs/methods/screening.md)."""
