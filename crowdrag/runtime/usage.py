"""The commands of `crowdrag` in groups, one line each, as `crowdrag help` prints them."""

from typing import Final

from crowdrag.runtime.exit_codes import MEANINGS

#: By group: the command with its arguments, and what it does.
GROUPS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "Start and stop": (
        ("demo", "start everything here, with the demo study and a login"),
        ("up", "start everything here, on http://localhost:8000/"),
        ("down", "stop it"),
        ("doctor", "check the installation and say what to fix"),
    ),
    "Data": (
        ("import KIND FILE", "import a corpus, answers, a CSV file, topics, a TREC run, responses or a questionnaire"),
        ("export", "export a study, or its answers, as one file"),
        ("convert FILE", "convert answers, runs, judgments, nuggets or a leaderboard into another format"),
    ),
    "Analysis": (
        ("analyse", "compute agreement, competence, labels and grades"),
        ("bertscore", "compute the BERTScores of responses"),
        ("judge_certificate", "test on files of labels whether a model judge may stand in for people"),
    ),
    "Experiments": (
        ("experiment NAME", "run fair RAG, uplift RAG or self-preference"),
        ("index CORPUS", "build the search index of a corpus, which all experiments use"),
        ("ir_dataset NAME", "write a test collection of ir_datasets as a corpus and questions"),
    ),
    "Operations": (
        ("createsuperuser", "create a login for the operator"),
        ("backup FILE", "write everything into one file"),
        ("restore FILE", "restore a backup"),
        ("drill FILE", "rehearse a restore in a separate folder and record the result"),
        ("upgrade_plan", "check whether a new release needs a stop"),
        ("prepare", "bring the database up to date before a new release starts"),
        ("serve PART", "run one part alone, for containers: web, sweep, worker-default, worker-llm, worker-gpu"),
        ("local_endpoint", "create the endpoint of the local language model"),
        ("prolific", "check the connection to Prolific"),
        ("check_invariants", "check that the stored data are consistent"),
        ("note_backup", "record a backup that another tool made, from JSON on standard input"),
    ),
}
#: Commands for developers and for the services themselves; `crowdrag manage help` lists them.
INTERNAL: Final = ("demo_study", "reference", "sweep")
#: Commands of Django and of the libraries, which `crowdrag` runs too.
DJANGO: Final = frozenset({
    "changepassword", "check", "clearsessions", "collectstatic", "compilemessages", "createcachetable", "dbshell",
    "diffsettings", "dumpdata", "findstatic", "flush", "generateschema", "inspectdb", "loaddata", "makemessages",
    "makemigrations", "migrate", "optimizemigration", "pgtrigger", "remove_stale_contenttypes", "runserver",
    "sendtestemail", "shell", "showmigrations", "spectacular", "sqlflush", "sqlmigrate", "sqlsequencereset",
    "squashmigrations", "startapp", "startproject", "test", "testserver",
})  # fmt: skip
#: The help of the option for scripts, the same for every command that prints a result.
JSON_HELP: Final = "print the result as one JSON object, and nothing else, to standard output"


def names() -> set[str]:
    """Return the names of all commands."""
    return {*(command.split()[0] for group in GROUPS.values() for command, _purpose in group), *INTERNAL, *DJANGO}


def purpose(name: str) -> str:
    """Return what a command of the product does, as a sentence."""
    (found,) = [text for group in GROUPS.values() for command, text in group if command.split()[0] == name]
    return f"{found[0].upper()}{found[1:]}."


def text() -> str:
    """Return the help of the command line."""
    lines = ["Usage: crowdrag COMMAND [OPTIONS]", ""]
    for group, commands in GROUPS.items():
        lines += [group, *(f"  {command:<18} {purpose}" for command, purpose in commands), ""]
    return "\n".join([
        *lines,
        "crowdrag COMMAND --help shows the options of a command.",
        "crowdrag manage COMMAND runs a command of Django (crowdrag manage help lists them).",
        "The data are in var/ of the repository, or in the folder that CROWDRAG_DATA_DIR names.",
        "With --json, a command prints its result as one JSON object to standard output, and nothing else there.",
        "",
        "Exit codes",
        *(f"  {code:<18} {meaning}" for code, meaning in MEANINGS.items()),
    ])  # fmt: skip
