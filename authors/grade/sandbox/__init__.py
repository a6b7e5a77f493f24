"""Students' code, run in a process of its own that the judge believes nothing but what functions returned."""
