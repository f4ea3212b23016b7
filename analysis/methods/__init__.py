"""Methods of analysis: one folder each, with what is computed (`compute`), drawn (`figures`) and shown (`queries`)."""
