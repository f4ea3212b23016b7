"""The audit log of accesses to participants' data, which cannot be edited."""
