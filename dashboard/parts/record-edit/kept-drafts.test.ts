import { expect, it } from 'vitest';
import { DRAFTS_MAX_CHARS, draftKey, keepDraft, readKept } from './kept-drafts.ts';

/** Creates a browser storage, with access to its content. */
function setUp() {
  const held = new Map<string, string>();
  const keeper = {
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => void held.set(key, value),
    removeItem: (key: string) => void held.delete(key),
    key: (n: number) => [...held.keys()][n] ?? null,
    get length() {
      return held.size;
    },
  };
  return { held, keeper };
}

const ada = { userId: 'ada', projectId: 'p1' };

it('stores a draft for one user in one project, until it is removed', () => {
  const { keeper, held } = setUp();
  const key = draftKey(ada, 'campaign:1');
  expect(keepDraft(key, { subject: 'Hi' }, keeper)).toBe(true);
  expect(readKept(key, keeper)?.draft).toEqual({ subject: 'Hi' });
  expect(readKept(draftKey({ ...ada, userId: 'bob' }, 'campaign:1'), keeper)).toBeUndefined();
  expect(readKept(draftKey({ ...ada, projectId: 'p2' }, 'campaign:1'), keeper)).toBeUndefined();
  keepDraft(key, undefined, keeper);
  expect(held.size).toBe(0);
});

it('removes the oldest drafts beyond its limit, drafts of earlier versions, and no other data', () => {
  const { keeper, held } = setUp();
  held.set('tidings-draft:p1:campaign:1', '{}');
  held.set('theme', 'dark');
  const large = 'x'.repeat(DRAFTS_MAX_CHARS / 2 - 100);
  held.set(draftKey(ada, 'first'), JSON.stringify({ at: 1, draft: large }));
  held.set(draftKey(ada, 'second'), JSON.stringify({ at: 2, draft: large }));
  expect(keepDraft(draftKey(ada, 'third'), large, keeper)).toBe(true);
  expect([...held.keys()]).toEqual(['theme', draftKey(ada, 'second'), draftKey(ada, 'third')]);
});

it('stores nothing that is too large or unreadable, and deletes its older text', () => {
  const { keeper, held } = setUp();
  const key = draftKey(ada, 'a');
  keepDraft(key, 'short', keeper);
  expect(keepDraft(key, 'x'.repeat(DRAFTS_MAX_CHARS), keeper)).toBe(false);
  expect(held.size).toBe(0);
  held.set(key, '{"half');
  expect(readKept(key, keeper)).toBeUndefined();
  held.set(key, '"text"');
  expect(readKept(key, keeper)).toBeUndefined();
});
