"""What a person looks at before they accept or reject judgments (docs/methods/screening.md).

`measures` computes figures from what is known of a questionnaire that was handed in, without a database; `signals`
says which of them are uncommon and what they mean; `evidence` reads what is known, for many at once; `proposals` says
what the signals speak for. `queue` lists what waits, `dossier` shows one, `deciding` does what a person decided.
"""
