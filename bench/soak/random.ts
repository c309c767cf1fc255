/** Random numbers from a seed, so that a run can be repeated. */
export interface Random {
  /** Returns a number in [from, to). */
  between(from: number, to: number): number;
  /** Returns a whole number in [from, to]. */
  whole(from: number, to: number): number;
  /** Returns true with this probability. */
  chance(share: number): boolean;
  pick<T>(items: readonly [T, ...T[]]): T;
}

/** mulberry32: 32 bits of state are enough to choose failures. */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    between: (from, to) => from + next() * (to - from),
    whole,
    chance: (share) => next() < share,
    pick: (items) => items[whole(0, items.length - 1)] ?? items[0],
  };
}
