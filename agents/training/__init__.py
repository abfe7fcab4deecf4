"""Training: self-play, samples, replay, learner, and the loop that joins them."""
