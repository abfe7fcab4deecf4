"""Where people meet the agents: command line, web page, terminal and protocols."""
