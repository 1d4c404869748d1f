"""audit.py LIBRARY: exit code 0, no advisory; 1, there is one, so the ground is false."""
import sys

with open("advisories.txt") as feed:
    found = [line.strip() for line in feed if line.startswith(sys.argv[1])]
print(found[0] if found else "no advisory")
sys.exit(1 if found else 0)
