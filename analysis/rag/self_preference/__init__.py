"""Self-preference: does a language model prefer text that it wrote itself? (self_preference; design 7.9)"""
