"""Monte-Carlo tree search over arrays: one set of tree kernels under two drivers."""
