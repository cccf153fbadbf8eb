# Makes the example's repository in the folder $1, which must not exist: one commit, always with the same id.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
git init --quiet --initial-branch=main "$1"
cd "$1"
mkdir tests
cat >slug.sh <<'END'
#!/bin/sh
# Makes a file name of a title: dashes for spaces.
printf '%s\n' "$1" | tr ' ' '-'
END
cat >tests/slug_test.sh <<'END'
#!/bin/sh
set -e
got=$(sh slug.sh 'Hello World')
if [ "$got" != hello-world ]; then
  echo "expected hello-world, got $got"
  exit 1
fi
END
cp "$here/nightgate.toml" nightgate.toml
git add .
export GIT_AUTHOR_NAME=example GIT_AUTHOR_EMAIL=example@example.invalid GIT_AUTHOR_DATE='2026-11-30T20:00:00Z'
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
git -c commit.gpgSign=false commit --quiet --message='slug'
