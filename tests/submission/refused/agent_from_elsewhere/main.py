from helper import agent

LIMIT = 3
