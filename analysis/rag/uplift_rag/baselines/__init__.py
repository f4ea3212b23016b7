"""The methods that uplift RAG is compared with, each in its own file on the protocol of `method`."""
