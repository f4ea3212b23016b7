"""Notes of staff on participants and their work. Participants never see them, and they are erased with the person."""
