"""What a site keeps: tables in a database, uploaded files in a folder."""
