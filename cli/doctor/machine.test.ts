import { describe, expect, it } from 'vitest';
import { judgeClock, judgeDiskSpace } from './machine.ts';
import { failFinding, formatReport, passFinding, warnFinding } from './report.ts';

const GIB = 1024 ** 3;

describe('the disk', () => {
  const disk = (freeBytes: number, freeInodes = 90, inodes = 100) =>
    judgeDiskSpace({ folder: '/home', freeBytes, freeInodes, inodes });

  it.each([
    ['pass', 50 * GIB, 90, 100],
    ['warn', 3 * GIB, 90, 100],
    ['fail', GIB / 2, 90, 100],
    ['warn', 50 * GIB, 1, 100],
    ['pass', 50 * GIB, 0, 0],
  ])('is %s with %d bytes and %d of %d inodes free', (verdict, bytes, freeInodes, inodes) => {
    expect(disk(bytes, freeInodes, inodes).verdict).toBe(verdict);
  });
});

describe('the clock', () => {
  it.each([
    ['pass', 500, "this machine's time agrees with the time of Postgres"],
    ['warn', 5_000, "this machine's time is 5.0 s behind the time of Postgres"],
    ['warn', -5_000, "this machine's time is 5.0 s ahead of the time of Postgres"],
    ['fail', 3_600_000, "this machine's time is 3600.0 s behind the time of Postgres"],
  ])('the check has the verdict %s if the time of Postgres is %d ms ahead', (verdict, aheadMs, message) => {
    expect(judgeClock({ owner: 'Postgres', aheadMs })).toMatchObject({ verdict, message });
  });
});

describe('the report', () => {
  const named = (...findings: ReturnType<typeof passFinding>[]) =>
    findings.map((finding) => ({ name: 'disk', finding }));

  it('ends with the exit code of the worst finding', () => {
    expect(formatReport(named(passFinding('a'))).exitCode).toBe(0);
    expect(formatReport(named(passFinding('a'), warnFinding('b', 'c'))).exitCode).toBe(1);
    expect(formatReport(named(failFinding('a', 'b'), passFinding('c'), warnFinding('d', 'e'))).exitCode).toBe(2);
  });

  it('has a line for each finding with its remedy below, and the totals', () => {
    expect(formatReport(named(passFinding('a'), warnFinding('b', 'c'))).lines).toEqual([
      'pass  disk  a',
      'warn  disk  b',
      '            → c',
      '1 pass, 1 warn, 0 fail',
    ]);
  });
});
