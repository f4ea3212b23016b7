"""Staff notes on participants and their work. Participants never see them, and they are erased with the participant."""
