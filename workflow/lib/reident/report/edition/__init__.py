"""The pages of the releasable edition, made from its public files alone (METHODS §11)."""
