"""English: its forms, and the sentences of messages. Steps need this language alone."""
