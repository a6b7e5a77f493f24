"""Exams and quizzes: items whose wrong answers are the misconceptions that the series knows, and files of them.

item.py says what an item is and what must be true of each; kinds/ draws them, one file a kind; bank.py draws many from
a seed; paper.py, moodle.py, gift.py and canvas.py write them.
"""
