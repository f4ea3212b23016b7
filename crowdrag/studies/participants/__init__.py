"""People who take part: who they are, their consent, blocks, own page, withdrawal and erasure."""
