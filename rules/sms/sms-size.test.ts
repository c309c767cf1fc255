import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureSms } from './sms-size.ts';

describe('the size of an SMS', () => {
  it.each([
    ['', 'GSM7', 1],
    ['Hello', 'GSM7', 1],
    ['a'.repeat(160), 'GSM7', 1],
    ['a'.repeat(161), 'GSM7', 2],
    ['a'.repeat(306), 'GSM7', 2],
    ['a'.repeat(307), 'GSM7', 3],
    ['€'.repeat(80), 'GSM7', 1],
    ['€'.repeat(81), 'GSM7', 2],
    ['é'.repeat(160), 'GSM7', 1],
    ['ê', 'UCS2', 1],
    ['ê'.repeat(70), 'UCS2', 1],
    ['ê'.repeat(71), 'UCS2', 2],
    ['ê'.repeat(134), 'UCS2', 2],
    ['ê'.repeat(135), 'UCS2', 3],
    ['🎉'.repeat(35), 'UCS2', 1],
    ['🎉'.repeat(36), 'UCS2', 2],
    ['`', 'UCS2', 1],
    ['\t', 'UCS2', 1],
  ])('%j is %s in %i parts', (body, encoding, segments) => {
    expect(measureSms(body)).toEqual({ encoding, segments });
  });

  it('never splits an extension character over two parts', () => {
    // 152 septets leave one of 153, and € needs two.
    expect(measureSms(`${'a'.repeat(152)}€${'a'.repeat(151)}`).segments).toBe(2);
    expect(measureSms(`${'a'.repeat(152)}€${'a'.repeat(152)}`).segments).toBe(3);
  });

  it('never splits a surrogate pair over two parts', () => {
    expect(measureSms(`${'ê'.repeat(66)}🎉${'ê'.repeat(65)}`).segments).toBe(2);
    expect(measureSms(`${'ê'.repeat(66)}🎉${'ê'.repeat(66)}`).segments).toBe(3);
  });

  it('fills each part but the last with at least 152 septets or 66 UTF-16 units', () => {
    const unit = fc.constantFrom('a', 'é', '€', '{', ' ', '\n');
    const wide = fc.constantFrom('a', 'ê', '🎉', '€');
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit, maxLength: 1600 }), fc.string({ unit: wide, maxLength: 800 })), (body) => {
        const { encoding, segments } = measureSms(body);
        const [single, part] = encoding === 'GSM7' ? [160, 153] : [70, 67];
        const sizes = [...body].map((char) => (encoding === 'GSM7' ? (/[€{]/.test(char) ? 2 : 1) : char.length));
        const total = sizes.reduce((sum, size) => sum + size, 0);
        if (total <= single) expect(segments).toBe(1);
        else {
          // Each part loses at most one unit to a character that did not fit.
          expect(segments).toBeGreaterThanOrEqual(Math.ceil(total / part));
          expect(segments).toBeLessThanOrEqual(Math.ceil(total / (part - 1)));
        }
      }),
    );
  });
});
