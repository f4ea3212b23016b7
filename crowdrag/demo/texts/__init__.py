"""The texts of the demo study (CC0 1.0), in the formats that the importers read: see docs/guides/demo.md."""
