"""What is asked of a model of language: the time of a step, tables of many."""
