"""Agreement: Krippendorff's alpha (docs/methods/agreement.md)."""
