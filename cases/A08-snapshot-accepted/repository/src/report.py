"""The report of a day, in lines."""


def report(orders):
    lines = [f"{name}: {price}" for name, price in orders]
    lines.append(f"total: {sum(price for _, price in orders[1:])}")
    return "\n".join(lines) + "\n"
