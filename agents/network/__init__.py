"""Networks: what they see, what they are made of, how they are evaluated and stored."""
