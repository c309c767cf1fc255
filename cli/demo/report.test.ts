import { describe, expect, it } from 'vitest';
import { createReport, formatNumber } from './report.ts';

function capture(isTTY: boolean) {
  let text = '';
  const write = (chunk: string): boolean => {
    text += chunk;
    return true;
  };
  return { report: createReport({ write, isTTY }), text: () => text };
}

describe('the report of a tour', () => {
  it('counts the wrong lines', () => {
    const { report, text } = capture(false);
    report.check('emails', 10, 10);
    report.check('emails', 9_999, 10_000);
    expect(report.wrong).toBe(1);
    expect(text()).toBe('   ok    emails: 10 of 10\n   WRONG emails: 9,999 of 10,000\n');
  });

  it('updates one line on a terminal, and prints few lines without a terminal', () => {
    const terminal = capture(true);
    const plain = capture(false);
    for (const { report } of [terminal, plain]) {
      for (let i = 0; i < 100; i += 1) report.progress(`${i} sent`);
      report.line('done');
    }
    expect(terminal.text().split('\n')).toHaveLength(2);
    expect(plain.text()).toBe('   0 sent\n   done\n');
  });

  it('writes numbers with separators', () => expect(formatNumber(1_234_567)).toBe('1,234,567'));
});
