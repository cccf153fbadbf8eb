# Makes the virtual environment where it is missing, and runs the tests in it.
set -e
test -x .venv/bin/python || python3 -m venv --without-pip .venv
exec .venv/bin/python -m unittest discover -s tests
