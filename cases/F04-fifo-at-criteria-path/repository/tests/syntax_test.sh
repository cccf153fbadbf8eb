sh -n bin/greet.sh
