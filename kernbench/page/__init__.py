"""The content of the page as plain data: the same for ``kernbench web`` and for ``kernbench report``.

Every function gives dictionaries, lists, texts and finite numbers alone, and no path of the disk.
"""
