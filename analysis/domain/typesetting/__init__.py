"""What leaves the system as a document: letters that can be trusted, pictures that only draw, and PDF."""
