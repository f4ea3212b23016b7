"""Language models as judges (docs/methods/model-judges.md)."""
