"""German: its forms, and the sentences of messages. The report needs it, no step does."""
