"""Result tables: their columns, storage, layout, and values in words."""
