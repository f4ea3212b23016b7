"""Campaigns before they are launched: what is judged, by whom, for what; drawing, forecast, launch.

| module | what |
|---|---|
| `design` | how questionnaires are made, as it is kept with the campaign |
| `services` | making a draft, changing, copying and deleting it: all of a change, or nothing |
| `questions`, `default_dimensions` | the dimensions that it asks, and those of the paper |
| `default_texts` | the instructions and the consent text that it begins with |
| `candidates` | what there is to judge: responses by filter, hard items by rule |
| `pairs`, `side_balance`, `allocation` | pairs, sides and questionnaires: pure |
| `questionnaires` | the rows of what was drawn |
| `forecasts` | people, hours, money |
| `setup_cards` | what is set, in a sentence for each part |
| `precision` | the expected width of a win rate's interval |
| `launch` | what is missing; opening, pausing, closing, archiving |
"""
