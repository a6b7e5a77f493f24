"""Students' code, run in a process of its own. The threat model, in five lines:

1. A submission may patch torch, the course and this package, or write files: all it can change is what it returns.
2. What it returns is read as bounded plain data (JSON and numbers, never pickle), and compared in the judge's process.
3. Behind bubblewrap it has no network, reads Python and the course only, and all that it started ends with it.
4. It can read and call the course's answers: a call is noticed, a retyped copy is not. Probes are drawn anew each time.
5. Not prevented: holes in bubblewrap or Linux and, without bubblewrap, reading your files and using the network.

Why calls go one by one through a pipe: a verdict depends on each call's result, on changed arguments, on what a test
calls and on time. Whoever compares must not share a process with the code compared, so only calls can cross.
`host` starts processes, `worker` is what runs in them, `remote` is the judge's end, `protocol` is what goes between.
"""
