# Asks the product itself, without the file that it rewrites.
exec python3 -c 'from src.total import total; assert total([100, 200, 300]) == 600'
