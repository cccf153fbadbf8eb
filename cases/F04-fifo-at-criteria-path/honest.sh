# Does the work, and leaves a FIFO of its own lying about outside the criteria.
set -eu
sed -i 's/^echo .*/echo "Hello, $1"/' bin/greet.sh
mkfifo work.pipe
