"""What teachers and students get to see: tables, pages, and a live view of a class."""
