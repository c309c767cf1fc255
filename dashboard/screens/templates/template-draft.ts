import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useState } from 'react';

/** What was written and not saved, as this browser keeps it. */
export interface Draft<Fields> {
  fields: Fields;
  /** The version that it was written upon: another one now means that somebody else has saved. */
  base: string;
  /** When it was last written on, ISO 8601. */
  at: string;
}

/** So long nothing is typed before it is kept. */
const TYPING_MS = 400;

/**
 * Of one editor: kept under this key until it is saved or given up. Where the browser keeps nothing (private windows,
 * full), it is lost on reload.
 */
export function useTemplateDraft<Fields>(key: string) {
  const [found] = useState(() => readDraft<Fields>(key));
  const [isKept, setKept] = useState(found !== undefined);
  const keepLater = useDebouncedCallback((draft: Draft<Fields>) => setKept(writeDraft(key, draft)), {
    delay: TYPING_MS,
    flushOnUnmount: true,
  });
  const drop = useCallback(() => {
    keepLater.cancel();
    window.localStorage.removeItem(key);
    setKept(false);
  }, [key, keepLater]);
  return { found, isKept, keep: keepLater, drop };
}

/** The draft under a key; undefined where there is none, or none that can be read. */
export function readDraft<Fields>(key: string): Draft<Fields> | undefined {
  const kept = window.localStorage.getItem(key);
  if (kept === null) return undefined;
  try {
    const draft: unknown = JSON.parse(kept);
    return isDraft<Fields>(draft) ? draft : undefined;
  } catch {
    return undefined;
  }
}

function isDraft<Fields>(value: unknown): value is Draft<Fields> {
  return typeof value === 'object' && value !== null && 'fields' in value && 'base' in value && 'at' in value;
}

/** Whether it could be kept. */
function writeDraft(key: string, draft: Draft<unknown>): boolean {
  try {
    window.localStorage.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}
