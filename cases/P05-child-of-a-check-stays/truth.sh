# The second check alone.
exec python3 -m unittest discover -s tests
