"""The bugs of the clinic, by what they are about."""
