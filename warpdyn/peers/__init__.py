"""The same robot in other libraries, for comparisons."""
