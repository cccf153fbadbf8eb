# HEAD has a wrong try, the index another and a test that suits it, and the files have the repair and the test of base.
set -eu
cp tests/test_calc.py "$(git rev-parse --git-dir)/kept"
sed -i 's/a - b/a * b/' src/calc.py
git -c user.name=agent -c user.email=agent@example.invalid commit --quiet --all --message='first try'
sed -i 's/a \* b/a/' src/calc.py
sed -i 's/self.assertEqual(calc.add(2, 3), 5)/self.assertTrue(calc.add(2, 3) is not None)/' tests/test_calc.py
git add --all
sed -i 's/return a$/return a + b/' src/calc.py
cat "$(git rev-parse --git-dir)/kept" >tests/test_calc.py
