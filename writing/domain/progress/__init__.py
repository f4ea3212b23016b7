"""How far the writing of a study is: by style and by writer, time and pay, who came and who stayed, what it costs.

| module | what |
|---|---|
| `rows` | the study's tasks with what was paid for them, each, and counted by where they stand |
| `counting` | where tasks stand, by style |
| `wages` | time and pay an hour, by response and by writer; who earns less than the floor, and topping up |
| `funnel` | from invited to accepted |
| `spending` | what was spent, and what is to come |
| `overview` | all of it for the page, and as tables to download |
"""

from .overview import TABLES, Overview, UnknownTable, as_table, glance, overview, writers
from .wages import top_up

__all__ = ["TABLES", "Overview", "UnknownTable", "as_table", "glance", "overview", "top_up", "writers"]
