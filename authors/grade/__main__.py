"""The command `python course.py grade FOLDER`."""

import argparse
import sys

from .sandbox.host import Limits


def main(argv):
    """Grade a folder of submissions, or watch one; returns an exit code."""
    parser = argparse.ArgumentParser(
        prog="course.py grade",
        description="Judge hand-ins: verdicts, gradebooks, a page for each student and one for the class.",
    )
    parser.add_argument("folder", help="holds one folder, .zip or file for each student; or a .zip of all")
    parser.add_argument("--live", action="store_true", help="show who is stuck where, while a class works")
    parser.add_argument("--port", type=int, default=8766, help="of the live table")
    parser.add_argument("--out", help="where tables and pages go (default: the folder graded in it)")
    parser.add_argument("--roster", help="a CSV of the class: id, name, e-mail (default: roster.csv in the folder)")
    parser.add_argument("--points", help="a CSV of points: exercise, points (default: points.csv in the folder)")
    parser.add_argument("--zeros", action="store_true", help="0 points, not none, for who handed in nothing")
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="for each exercise of each hand-in")
    parser.add_argument("--memory-mb", type=int, default=Limits.memory_mb)
    parser.add_argument("--jobs", type=int, help="how many at once (default: one for each core)")
    parser.add_argument("--again", action="store_true", help="judge also what was judged before, or ended grading")
    unconfined = "run students' code without bubblewrap too, where it can read your files and use the network"
    parser.add_argument("--unconfined", action="store_true", help=unconfined)
    options = parser.parse_args(argv)
    if options.live:
        from .report.dashboard import serve

        return serve(options.folder, options.port)
    from .grade_class import grade

    limits = Limits(seconds=options.seconds, memory_mb=options.memory_mb)
    try:
        report = grade(
            options.folder, options.out, roster=options.roster, points=options.points,
            limits=limits, jobs=options.jobs, again=options.again, zeros=options.zeros, unconfined=options.unconfined,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        print(f"Nothing was graded: {error}.", file=sys.stderr)
        return 1
    print(report.in_words())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
