"""Neural models at work, without Django: encoders here; torch and transformers are imported when they are needed."""
