test "$(sh bin/greet.sh Ada)" = "Hello, Ada"
