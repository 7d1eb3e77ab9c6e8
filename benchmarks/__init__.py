"""How fast warpdyn is, beside Pinocchio in the same run: `python -m benchmarks` measures, writes and reports.

`cases.py` lists what is measured and what has to be reached; `steady.py` times it; `starts.py` times compilation
and starts; `report.py` makes the table and the picture.
"""
