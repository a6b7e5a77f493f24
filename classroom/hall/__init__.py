"""The hall answers by phone: a vote server of its own, the phone's page, and the deck's line to the server."""
