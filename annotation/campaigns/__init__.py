"""Campaigns before launch: what is judged, by whom and for which pay, the draw, the forecast, the launch.

| module | what |
|---|---|
| `design` | the design of questionnaires, stored with the campaign |
| `services` | create, change, copy and delete drafts, each in one transaction |
| `questions` | the questions (dimensions) of a campaign |
| `default_texts` | the default instructions and consent text |
| `candidates` | what can be judged: responses by filter, difficult items by rule |
| `pairs`, `side_balance`, `allocation` | pairs, sides and questionnaires (pure functions) |
| `questionnaires` | database rows of the drawn questionnaires |
| `forecasts` | people, hours and cost |
| `setup_cards` | summary of each part of the setup in one sentence |
| `precision` | the expected width of a win rate's interval |
| `launch` | what is missing for the launch; open, pause, close, archive |
"""
