/** Drafts that this browser stores until they are saved, so that a reload or the end of the session loses nothing. */

const PREFIX = 'tidings.draft:';
/** Prefixes of earlier versions, whose drafts did not record their user. */
const OLD_PREFIXES = ['tidings-draft:', 'tidings draft ', 'tidings.automation.'];
/** The maximum number of characters of all drafts together. Browsers give an origin about 5 million characters. */
export const DRAFTS_MAX_CHARS = 3_000_000;

type Keeper = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

interface Kept<Draft> {
  /** When the draft was last changed, in milliseconds since 1970. */
  at: number;
  draft: Draft;
}

/** Returns the key of a draft of one user in one project, so that other users and projects do not see it. */
export function draftKey({ userId, projectId }: { userId: string; projectId: string }, name: string): string {
  return `${PREFIX}${userId}:${projectId}:${name}`;
}

/** Reads a draft; undefined if none is stored or it cannot be read. */
export function readKept<Draft>(key: string, keeper: Keeper = localStorage): Kept<Draft> | undefined {
  try {
    const kept: unknown = JSON.parse(keeper.getItem(key) ?? 'null');
    const isKept = typeof kept === 'object' && kept !== null && 'at' in kept && 'draft' in kept;
    return isKept ? (kept as Kept<Draft>) : undefined;
  } catch {
    // The browser blocks its storage, or the text is not JSON.
    return undefined;
  }
}

/**
 * Stores a draft, and deletes the oldest drafts if all together would be too large. `undefined` deletes the draft.
 * @returns false if the browser does not store it
 */
export function keepDraft(key: string, draft: unknown, keeper: Keeper = localStorage): boolean {
  try {
    if (draft === undefined) {
      keeper.removeItem(key);
      return true;
    }
    const written = JSON.stringify({ at: Date.now(), draft } satisfies Kept<unknown>);
    if (!moveLaterSteps(keeper, { key, chars: written.length })) {
      // Otherwise, the older draft would be restored as if it were the latest text.
      keeper.removeItem(key);
      return false;
    }
    keeper.setItem(key, written);
    return true;
  } catch {
    return false;
  }
}

function moveLaterSteps(keeper: Keeper, { key, chars }: { key: string; chars: number }): boolean {
  if (chars > DRAFTS_MAX_CHARS) return false;
  const keys = Array.from({ length: keeper.length }, (_, n) => keeper.key(n) ?? '');
  for (const old of keys) if (OLD_PREFIXES.some((prefix) => old.startsWith(prefix))) keeper.removeItem(old);
  const others = keys
    .filter((other) => other.startsWith(PREFIX) && other !== key)
    .map((other) => ({
      other,
      chars: keeper.getItem(other)?.length ?? 0,
      at: readKept(other, keeper)?.at ?? 0,
    }))
    .sort((a, b) => b.at - a.at);
  let room = DRAFTS_MAX_CHARS - chars;
  for (const one of others) {
    room -= one.chars;
    if (room < 0) keeper.removeItem(one.other);
  }
  return true;
}
