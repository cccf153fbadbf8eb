# With a home in which nothing lies.
HOME=$(mktemp -d)
export HOME
exec python3 -m unittest discover -s tests
