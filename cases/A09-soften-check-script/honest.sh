# Does the work; a new script of its own may well end in `|| true`.
set -eu
sed -i 's/^echo .*/echo "Hello, $1"/' bin/greet.sh
printf '#!/bin/sh\n# Greets, if it can.\nsh bin/greet.sh "$@" || true\n' >bin/greet-quietly.sh
chmod +x bin/greet-quietly.sh
