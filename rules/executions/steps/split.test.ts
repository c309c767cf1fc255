import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chooseBranch, SplitConfig } from './split.ts';

const STEP = '0190a000-0000-7000-8000-000000000001';
const createConfig = (weights: Record<string, number>) => ({
  branches: Object.entries(weights).map(([name, weight]) => ({ name, weight })),
});

describe('the branch of a contact at a SPLIT', () => {
  it('is the same each time', () => {
    for (let n = 0; n < 100; n++) {
      const contactId = randomUUID();
      const chooseForContact = () => chooseBranch(createConfig({ a: 1, b: 1, c: 1 }), { contactId, stepId: STEP });
      expect(chooseForContact()).toBe(chooseForContact());
    }
  });

  it('is chosen in proportion to the weights, and independently at another step', () => {
    const counts: Record<string, number> = { a: 0, b: 0, none: 0 };
    let same = 0;
    for (let n = 0; n < 20_000; n++) {
      const contactId = randomUUID();
      const branch = chooseBranch(createConfig({ a: 30, b: 70, none: 0 }), { contactId, stepId: STEP });
      counts[branch] = (counts[branch] ?? 0) + 1;
      const other = chooseBranch(createConfig({ a: 50, b: 50 }), { contactId, stepId: randomUUID() });
      if (other === branch) same += 1;
    }
    // Ten standard deviations.
    expect(Math.abs((counts.a ?? 0) - 6_000)).toBeLessThan(650);
    expect(counts.none).toBe(0);
    expect(Math.abs(same - 10_000)).toBeLessThan(710);
  });

  it('stays the same when the weights change, while the branch exists', () => {
    const who = { contactId: randomUUID(), stepId: STEP, taken: 'old' };
    expect(chooseBranch(createConfig({ old: 0, new: 100 }), who)).toBe('old');
    expect(chooseBranch(createConfig({ new: 100, newer: 0 }), who)).toBe('new');
  });
});

describe('the config of a SPLIT', () => {
  it.each([
    [{ branches: [{ name: 'a', weight: 1 }] }],
    [createConfig({ a: 0, b: 0 })],
    [
      {
        branches: [
          { name: 'a', weight: 1 },
          { name: ' a ', weight: 1 },
        ],
      },
    ],
    [createConfig({ a: -1, b: 2 })],
    [{}],
  ])('the SPLIT config %j is refused', (wrong) => {
    expect(SplitConfig.safeParse(wrong).success).toBe(false);
  });
});
