"""factors.py N prints the prime factors of N."""

import sys


def factors(n):
    found, p = [], 2
    while p * p <= n:
        while n % p == 0:
            found.append(p)
            n //= p
        p += 1
    return found + [n] if n > 1 else found


number = int(sys.argv[1])
print(number, "=", " * ".join(map(str, factors(number))))
