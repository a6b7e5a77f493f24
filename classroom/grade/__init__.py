"""`python course.py grade`: submissions in, verdicts, gradebooks and pages out.

Why not nbgrader or otter: they run the whole notebook and count tests that pass. Here a verdict names the
misconception, as `check` does, so answers are compared call by call; and a notebook that is run whole can write its own
verdict. Their formats are not needed either: Moodle and Canvas give folders of files and take CSV.
"""
