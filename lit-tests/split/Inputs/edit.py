"""edit.py FROM TO STATEMENTS: a JSON file with changes; STATEMENTS see it as m."""
import json
import sys

with open(sys.argv[1]) as file:
    m = json.load(file)
exec(sys.argv[3], {"m": m})
with open(sys.argv[2], "w") as file:
    json.dump(m, file, indent=2)
