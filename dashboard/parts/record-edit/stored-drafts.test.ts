import { expect, it } from 'vitest';
import { createDraftKey, DRAFTS_MAX_CHARS, readStoredDraft, storeChangedDraft, storeDraft } from './stored-drafts.ts';

/** Creates a browser storage, with access to its content. */
function setUp() {
  const content = new Map<string, string>();
  const storage = {
    getItem: (key: string) => content.get(key) ?? null,
    setItem: (key: string, value: string) => void content.set(key, value),
    removeItem: (key: string) => void content.delete(key),
    key: (n: number) => [...content.keys()][n] ?? null,
    get length() {
      return content.size;
    },
  };
  return { content, storage };
}

const ada = { userId: 'ada', projectId: 'p1' };

it('stores a draft for one user in one project, until it is removed', () => {
  const { storage, content } = setUp();
  const key = createDraftKey(ada, 'campaign:1');
  expect(storeDraft(key, { subject: 'Hi' }, storage)).toBe(true);
  expect(readStoredDraft(key, storage)?.draft).toEqual({ subject: 'Hi' });
  expect(readStoredDraft(createDraftKey({ ...ada, userId: 'bob' }, 'campaign:1'), storage)).toBeUndefined();
  expect(readStoredDraft(createDraftKey({ ...ada, projectId: 'p2' }, 'campaign:1'), storage)).toBeUndefined();
  storeDraft(key, undefined, storage);
  expect(content.size).toBe(0);
});

it('removes the oldest drafts beyond its limit, drafts of earlier versions, and no other data', () => {
  const { storage, content } = setUp();
  content.set('tidings-draft:p1:campaign:1', '{}');
  content.set('theme', 'dark');
  const large = 'x'.repeat(DRAFTS_MAX_CHARS / 2 - 100);
  content.set(createDraftKey(ada, 'first'), JSON.stringify({ at: 1, draft: large }));
  content.set(createDraftKey(ada, 'second'), JSON.stringify({ at: 2, draft: large }));
  expect(storeDraft(createDraftKey(ada, 'third'), large, storage)).toBe(true);
  expect([...content.keys()]).toEqual(['theme', createDraftKey(ada, 'second'), createDraftKey(ada, 'third')]);
});

it('stores nothing that is too large or unreadable, and deletes its older text', () => {
  const { storage, content } = setUp();
  const key = createDraftKey(ada, 'a');
  storeDraft(key, 'short', storage);
  expect(storeDraft(key, 'x'.repeat(DRAFTS_MAX_CHARS), storage)).toBe(false);
  expect(content.size).toBe(0);
  content.set(key, '{"half');
  expect(readStoredDraft(key, storage)).toBeUndefined();
  content.set(key, '"text"');
  expect(readStoredDraft(key, storage)).toBeUndefined();
});

it('removes a draft that has the same content as the saved record again', () => {
  const { storage, content } = setUp();
  const key = createDraftKey(ada, 'settings:project');
  storeChangedDraft(key, { draft: { name: 'Shop 2' }, initial: { name: 'Shop' } }, storage);
  expect(readStoredDraft(key, storage)?.draft).toEqual({ name: 'Shop 2' });
  storeChangedDraft(key, { draft: { name: 'Shop' }, initial: { name: 'Shop' } }, storage);
  expect(content.size).toBe(0);
});
