"""What all endpoints share: who may ask, how much, how lists are paged, what is said when something is wrong."""
