"""Every endpoint by its name, with what each method needs: ROLE SCOPE. An endpoint that is not here fails the tests."""

LISTED: dict[str, dict[str, str]] = {
    "api_studies": {"GET": "anybody READ", "POST": "anybody CREATE"},
    "api_study": {"GET": "VIEWER READ", "PATCH": "OWNER WRITE"},
    "api_members": {"GET": "VIEWER READ", "POST": "OWNER MANAGE"},
    "api_member": {"GET": "VIEWER READ", "PUT": "OWNER MANAGE", "DELETE": "OWNER MANAGE"},
    "api_runs": {"GET": "VIEWER READ"},
    "api_run": {"GET": "VIEWER READ"},
    "api_run_cancel": {"POST": "EDITOR RUN"},
    "api_run_resume": {"POST": "EDITOR RUN"},
    "api_artifacts": {"GET": "VIEWER READ"},
    "api_artifact": {"GET": "VIEWER READ"},
    "api_imports": {"GET": "VIEWER READ"},
    "api_import": {"POST": "EDITOR WRITE"},
    "api_topics": {"GET": "VIEWER READ"},
    "api_topic": {"GET": "VIEWER READ"},
    "api_passages": {"GET": "VIEWER READ"},
    "api_responses": {"GET": "VIEWER READ"},
    "api_response": {"GET": "VIEWER READ"},
    "api_response_log": {"GET": "REVIEWER READ"},
}
