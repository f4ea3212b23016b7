"""Whether a language model prefers what it wrote itself (self_preference; design 7.9)."""
