"""Where files are kept that people handed in and runs made: a folder of this machine, or S3-compatible storage."""
