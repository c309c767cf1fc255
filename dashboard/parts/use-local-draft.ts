import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useEffect, useState } from 'react';
import { useSession } from '../app/session.ts';
import { draftKey, keepDraft, readKept } from './record-edit/kept-drafts.ts';

/** The draft is stored when the user has not typed for this long, and immediately when the page is closed. */
const KEEP_AFTER_MS = 300;

/**
 * Stores typed text in this browser until it is saved or discarded, so that a reload or a closed tab loses nothing.
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
    // `keepLater.flush` is a new function in each render, and a listener is removed only by the function that was
    // added.
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
    /** Whether the draft is from before this page was opened. The editor then says so. */
    isRestored,
    /** Whether there is unsaved text. */
    isTouched,
    /** Removes the draft after a save. */
    forget,
    /** Removes the draft and shows the stored text. */
    discard: (to: Draft) => {
      forget();
      setDraft(to);
    },
  };
}
