"""The command `python course.py grade FOLDER`."""

import argparse
import functools
import sys

from .sandbox.host import Limits


def main(argv):
    """Grade a folder of submissions, or watch one; returns an exit code."""
    parser = argparse.ArgumentParser(
        prog="course.py grade",
        description="Judge hand-ins: verdicts, gradebooks, a page for each student and one for the class.",
    )
    parser.add_argument("folder", nargs="?", help="holds one folder, .zip or file for each student; or a .zip of all")
    parser.add_argument("--live", action="store_true", help="show who is stuck where, while a class works")
    parser.add_argument("--laptops", action="store_true", help="with --live: laptops join by an address and a code")
    parser.add_argument("--address", help="of this machine, at which laptops reach it (default: that of the way out)")
    parser.add_argument("--shared", action="store_true", help="many laptops come from one address, as behind a router")
    parser.add_argument("--port", type=int, default=8766, help="of the live table")
    parser.add_argument("--out", help="where tables and pages go (default: the folder graded in it)")
    parser.add_argument("--roster", help="a CSV of the class: id, name, e-mail (default: roster.csv in the folder)")
    parser.add_argument("--points", help="a CSV of points: exercise, points (default: points.csv in the folder)")
    parser.add_argument(
        "--deadline", metavar="TIME", help="2026-05-03 23:59, with +02:00 or Europe/Berlin; for some: deadlines.csv"
    )
    parser.add_argument(
        "--best", action="store_true", help="of several versions the best counts, not the newest in time"
    )
    parser.add_argument(
        "--zeros", action="store_true", help="0 points, not none, for who answered nothing by the deadline"
    )
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="for each exercise of each hand-in")
    parser.add_argument("--memory-mb", type=int, default=Limits.memory_mb)
    parser.add_argument("--jobs", type=int, help="how many at once (default: one for each core)")
    parser.add_argument("--again", action="store_true", help="judge also what was judged before, or ended grading")
    parser.add_argument("--again-for", metavar="ID", action="append", default=[], help="judge this student once more")
    unconfined = "run students' code without bubblewrap too, where it can read your files and use the network"
    parser.add_argument("--unconfined", action="store_true", help=unconfined)
    options = parser.parse_args(argv)
    if options.live:
        from .report.dashboard import Laptops, serve

        laptops = functools.partial(Laptops, options.address, options.shared) if options.laptops else None
        if options.folder or laptops:
            return serve(options.folder, options.port, laptops)
    if not options.folder:
        parser.error("which folder?")
    from .grade_class import grade
    from .report.gradebooks import NotAsMeant

    limits = Limits(seconds=options.seconds, memory_mb=options.memory_mb)
    try:
        report = grade(
            options.folder, options.out, roster=options.roster, points=options.points, deadline=options.deadline,
            best=options.best, limits=limits, jobs=options.jobs, again=options.again, again_for=options.again_for,
            zeros=options.zeros, unconfined=options.unconfined,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        print(f"Nothing was graded: {error}.", file=sys.stderr)
        return 1
    except NotAsMeant as error:
        print(
            f"Use no gradebook of this run: {error}. Close it where it is open, and grade once more.", file=sys.stderr
        )
        return 1
    print(report.in_words())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
