/* Arithmetic for the till. */

int add(int a, int b)
{
    return a - b;
}
