import { describe, expect, it } from 'vitest';
import {
  getTargetField,
  isImportedAsText,
  recallMapping,
  rememberMapping,
  withImportAsText,
  withTarget,
} from './mapping.ts';

describe('the mapping of columns', () => {
  it('a field belongs to one column', () => {
    expect(withTarget({ A: 'email', B: 'data.x' }, 'B', 'email')).toEqual({ A: null, B: 'email' });
    expect(withTarget({ A: 'email', B: 'data.x' }, 'B', null)).toEqual({ A: 'email', B: null });
  });

  it('values are stored as text only in data, not in other fields', () => {
    const asText = withImportAsText({ Zip: 'data.zip' }, 'Zip', true);
    expect(asText).toEqual({ Zip: { field: 'data.zip', type: 'string' } });
    expect([getTargetField(asText.Zip), isImportedAsText(asText.Zip)]).toEqual(['data.zip', true]);
    expect(withImportAsText(asText, 'Zip', false)).toEqual({ Zip: 'data.zip' });
    expect(withTarget(asText, 'Zip', 'data.code')).toEqual({ Zip: { field: 'data.code', type: 'string' } });
    expect(withTarget(asText, 'Zip', 'email')).toEqual({ Zip: 'email' });
  });

  it('is remembered by the columns of the file', () => {
    const stored = rememberMapping(null, ['A', 'B'], { A: 'email', B: null });
    expect(recallMapping(stored, ['A', 'B'])).toEqual({ A: 'email', B: null });
    expect(recallMapping(stored, ['B', 'A'])).toBeUndefined();
    for (const broken of ['{', '5', 'null', '[1]']) expect(recallMapping(broken, ['A'])).toBeUndefined();
    let many: string | null = null;
    for (let n = 0; n < 30; n += 1) many = rememberMapping(many, [`${n}`], {});
    expect([recallMapping(many, ['0']), recallMapping(many, ['29'])]).toEqual([undefined, {}]);
  });
});
