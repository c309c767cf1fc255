import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useEffect, useState } from 'react';
import { useSession } from '../app/session.ts';
import { draftKey, keepDraft, readKept } from './record-edit/kept-drafts.ts';

/** Typing pauses this long before a draft is kept; leaving the page keeps it at once. */
const KEEP_AFTER_MS = 300;

/**
 * Keeps typed text in this browser until it is saved or discarded; a reload or a closed tab loses nothing.
 * @param p.name of the edited record, unique in the project
 * @param p.saved the stored text; a draft that equals it is not kept
 */
export function useLocalDraft<Draft>({ name, saved }: { name: string; saved: Draft }) {
  const key = draftKey(useSession(), name);
  const [kept] = useState(() => readKept<Draft>(key)?.draft);
  const [draft, setDraft] = useState<Draft>(kept ?? saved);
  const [isRestored, setRestored] = useState(kept !== undefined);
  const [isTouched, setTouched] = useState(kept !== undefined);
  const keepLater = useDebouncedCallback((next: Draft) => void keepDraft(key, next), {
    delay: KEEP_AFTER_MS,
    flushOnUnmount: true,
  });
  useEffect(() => {
    // Each call makes another `flush`.
    const flush = () => keepLater.flush();
    window.addEventListener('pagehide', flush);
    return () => window.removeEventListener('pagehide', flush);
  }, [keepLater]);
  const forget = useCallback(() => {
    setTouched(false);
    setRestored(false);
    keepLater.cancel();
    keepDraft(key, undefined);
  }, [key, keepLater]);
  return {
    draft,
    change: (next: Draft) => {
      setTouched(true);
      setDraft(next);
      keepLater(next);
    },
    /** It was kept before this page was opened: the editor says so. */
    isRestored,
    /** Something was typed that is not saved. */
    isTouched,
    /** Saved: the draft is removed. */
    forget,
    /** Back to what is stored. */
    discard: (to: Draft) => {
      forget();
      setDraft(to);
    },
  };
}
