import { isSame } from './changes.ts';

/** Drafts that this browser stores until they are saved, so that a reload or the end of the session loses nothing. */

const PREFIX = 'tidings.draft:';
/** Prefixes of earlier releases, whose drafts did not record their user. */
const OLD_PREFIXES = ['tidings-draft:', 'tidings draft ', 'tidings.automation.'];
/** The maximum number of characters of all drafts together. Browsers give an origin about 5 million characters. */
export const DRAFTS_MAX_CHARS = 3_000_000;

type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

interface StoredDraft<Draft> {
  /** When the draft was last changed, in milliseconds since 1970. */
  at: number;
  draft: Draft;
}

/** Returns the key of a draft of one user in one project, so that other users and projects do not see it. */
export function createDraftKey({ userId, projectId }: { userId: string; projectId: string }, name: string): string {
  return `${PREFIX}${userId}:${projectId}:${name}`;
}

/** Reads a draft; undefined if none is stored or it cannot be read. */
export function readStoredDraft<Draft>(
  key: string,
  storage: DraftStorage = localStorage,
): StoredDraft<Draft> | undefined {
  try {
    const storedDraft: unknown = JSON.parse(storage.getItem(key) ?? 'null');
    const isStored =
      typeof storedDraft === 'object' && storedDraft !== null && 'at' in storedDraft && 'draft' in storedDraft;
    return isStored ? (storedDraft as StoredDraft<Draft>) : undefined;
  } catch {
    // The browser blocks its storage, or the text is not JSON.
    return undefined;
  }
}

/**
 * Stores a draft, and deletes the oldest drafts if all together would be too large. `undefined` deletes the draft.
 * @returns false if the browser does not store it
 */
export function storeDraft(key: string, draft: unknown, storage: DraftStorage = localStorage): boolean {
  try {
    if (draft === undefined) {
      storage.removeItem(key);
      return true;
    }
    const written = JSON.stringify({ at: Date.now(), draft } satisfies StoredDraft<unknown>);
    if (!makeRoom(storage, { key, chars: written.length })) {
      // Otherwise, the older draft would be restored as if it were the latest text.
      storage.removeItem(key);
      return false;
    }
    storage.setItem(key, written);
    return true;
  } catch {
    return false;
  }
}

/** Stores a draft, or deletes it if it has the same content as the empty form. */
export function storeChangedDraft<Draft>(
  key: string,
  { draft, initial }: { draft: Draft; initial: Draft },
  storage: DraftStorage = localStorage,
): boolean {
  return storeDraft(key, isSame(draft, initial) ? undefined : draft, storage);
}

/**
 * Deletes the drafts of earlier releases, and the oldest drafts until a draft of this size fits.
 * @returns false if the draft alone is too large
 */
function makeRoom(storage: DraftStorage, { key, chars }: { key: string; chars: number }): boolean {
  if (chars > DRAFTS_MAX_CHARS) return false;
  const keys = Array.from({ length: storage.length }, (_, n) => storage.key(n) ?? '');
  for (const old of keys) if (OLD_PREFIXES.some((prefix) => old.startsWith(prefix))) storage.removeItem(old);
  const others = keys
    .filter((other) => other.startsWith(PREFIX) && other !== key)
    .map((other) => ({
      other,
      chars: storage.getItem(other)?.length ?? 0,
      at: readStoredDraft(other, storage)?.at ?? 0,
    }))
    .sort((a, b) => b.at - a.at);
  let charsLeft = DRAFTS_MAX_CHARS - chars;
  for (const one of others) {
    charsLeft -= one.chars;
    if (charsLeft < 0) storage.removeItem(one.other);
  }
  return true;
}
