"""The till's journal."""


def write(path, lines):
    with open(path, "w") as journal:
        journal.writelines(f"{line}\n" for line in lines)
