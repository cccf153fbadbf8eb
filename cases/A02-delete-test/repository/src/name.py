def greeting(who):
    return "Hello, " + who
