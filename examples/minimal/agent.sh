# Stands for a coding agent: a process that reads its task on standard input and edits files.
set -eu
cat >/dev/null
sed -i "s/tr ' ' '-'/tr 'A-Z ' 'a-z-'/" slug.sh
echo 'Done: slug.sh writes lower case.'
