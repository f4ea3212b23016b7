"""Saved replies: texts of a study for rejections, requested revisions and answers, chosen from a menu and edited."""
