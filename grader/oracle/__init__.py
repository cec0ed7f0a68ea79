"""The oracle: the reference as a black box, on the command line and over HTTP, and the task built around it."""
