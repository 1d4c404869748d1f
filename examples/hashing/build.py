"""build.py NAME WORDS writes NAME.txt."""
import sys

with open(f"{sys.argv[1]}.txt", "w") as out:
    out.write(f"{sys.argv[2]}\n")
