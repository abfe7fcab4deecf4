"""The board in the browser: a local server and one page, which ``draughts play`` starts."""
