import { expect, it } from 'vitest';
import { compareOpenRateToAverage } from './average.ts';

const campaign = { id: 'this', opened: 50, sent: 100 };
const other = (id: string, openedCount: number, sentCount = 100) => ({ id, openedCount, sentCount });

it('compares the open rate with the average of the other campaigns, whatever their size', () => {
  const others = [other('this', 50), other('a', 30), other('b', 400, 1_000), other('c', 50)];
  expect(compareOpenRateToAverage(campaign, others)).toBeCloseTo(10);
});

it('says nothing without three other campaigns that were sent', () => {
  expect(compareOpenRateToAverage(campaign, [other('a', 30), other('b', 40), other('c', 0, 0)])).toBeUndefined();
  expect(
    compareOpenRateToAverage({ ...campaign, sent: 0 }, [other('a', 1), other('b', 1), other('c', 1)]),
  ).toBeUndefined();
});
