"""What all tests share. The stores that they run on are started by crowdrag.runtime.pytest_services."""
