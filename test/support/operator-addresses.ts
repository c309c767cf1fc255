import { randomBytes } from 'node:crypto';

/**
 * Returns addresses for `OPERATORS`. If several accounts have the same address, only the oldest is an operator, so each
 * user of a test needs another address.
 */
export function createOperatorAddresses(n: number): { all: string; next: () => string } {
  const addresses = Array.from({ length: n }, () => `ops-${randomBytes(4).toString('hex')}@installation.test`);
  let used = 0;
  return {
    all: addresses.join(),
    next: () => {
      const address = addresses[used];
      if (address === undefined) throw new Error('more operators than addresses: ask for more');
      used += 1;
      return address;
    },
  };
}
