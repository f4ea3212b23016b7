"""Analysis methods, one folder each: computation (`compute`), figures (`figures`) and page queries (`queries`)."""
