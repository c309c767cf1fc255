/** Computes for a time that is proportional to the number of rounds. */
export function computeSlowly(rounds: number): number {
  let sum = 0;
  for (let round = 0; round < rounds; round++) sum = (sum + round) % 1_000_003;
  return sum;
}

/** A workflow that computes in a promise callback, like workflow code after an `await`. */
export async function compute(rounds: number): Promise<number> {
  await Promise.resolve();
  return computeSlowly(rounds);
}
