# With the umask that nearly everybody has.
umask 022
exec python3 -m unittest discover -s tests
