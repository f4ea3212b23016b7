"""Result tables: columns, storage, layout, and labels of values."""
