"""Reading a clone of the published artifact into a release: files -> inputs and answers -> tables.

Names are mapped here, at the border, and nowhere else. Nothing is guessed: what the artifact does not hold is null, and
every file that is not imported is listed with the reason.
"""
