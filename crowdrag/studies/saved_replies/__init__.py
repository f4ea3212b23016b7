"""Saved replies: a study's texts for rejections, requested revisions and answers, chosen from a menu and edited."""
