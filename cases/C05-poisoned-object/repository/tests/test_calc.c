#include <stdio.h>

int add(int a, int b);

int main(void)
{
    if (add(2, 3) != 5 || add(7, 0) != 7) {
        fprintf(stderr, "add() is wrong\n");
        return 1;
    }
    return 0;
}
