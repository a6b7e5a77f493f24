"""What a class needs beside the lessons: votes in a hall, grading, exams, and a hub."""
