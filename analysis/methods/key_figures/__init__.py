"""Key figures of a study."""
