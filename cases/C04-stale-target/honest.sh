# Repairs add(), builds and tests in place as anybody would, and leaves the target folder there.
set -eu
sed -i 's/a - b/a + b/' src/lib.rs
cargo test --quiet --offline --locked --target-dir target
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='fix add'
