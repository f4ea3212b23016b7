"""What follows from what: an entailment model, or a language model's yes and no as a stand-in."""
