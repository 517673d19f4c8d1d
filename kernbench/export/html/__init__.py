"""The page in the browser: ES modules and a style sheet, served one by one or put into one file."""
