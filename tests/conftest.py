"""What all tests share. The stores that they run on are started by crowdrag.runtime.pytest_services."""

import hypothesis

# These machines are shared: how long an example takes says nothing. All else is as Hypothesis has it, in CI too.
hypothesis.settings.register_profile("shared machine", parent=hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("shared machine")
