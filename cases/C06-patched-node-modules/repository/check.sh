# Installs what the tests need where that has not been done, and runs them.
set -e
test -d node_modules || node tools/install.js
exec node tests/calc.js
