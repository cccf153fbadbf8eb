"""Prints a page to see whether the printer is there."""


def test_page():
    print("This is a page.")


if __name__ == "__main__":
    test_page()
