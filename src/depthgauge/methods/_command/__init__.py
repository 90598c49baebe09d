"""What `command` needs to run a program: its template, its files, its process."""
