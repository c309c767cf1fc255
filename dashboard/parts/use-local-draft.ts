import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useEffect, useState } from 'react';
import { useSession } from '../app/session.ts';
import { createDraftKey, readStoredDraft, storeChangedDraft, storeDraft } from './record-edit/stored-drafts.ts';

/** The draft is stored when the user has not typed for this long, and immediately when the page is closed. */
const STORE_AFTER_MS = 300;

/**
 * Stores typed text in this browser until it is saved or discarded, so that a reload or a closed tab loses nothing.
 * @param p.name identifies the edited record, unique in the project
 * @param p.saved the text that the service has; the browser stores no draft with the same text
 */
export function useLocalDraft<Draft>({ name, saved }: { name: string; saved: Draft }) {
  const key = createDraftKey(useSession(), name);
  const [storedDraft] = useState(() => readStoredDraft<Draft>(key)?.draft);
  const [draft, setDraft] = useState<Draft>(storedDraft ?? saved);
  const [isRestored, setRestored] = useState(storedDraft !== undefined);
  const [isTouched, setTouched] = useState(storedDraft !== undefined);
  const storeLater = useDebouncedCallback((draft: Draft) => void storeChangedDraft(key, { draft, saved }), {
    delay: STORE_AFTER_MS,
    flushOnUnmount: true,
  });
  useEffect(() => {
    // `storeLater.flush` is a new function in each render, and a listener is removed only by the function that was
    // added.
    const flush = () => storeLater.flush();
    window.addEventListener('pagehide', flush);
    return () => window.removeEventListener('pagehide', flush);
  }, [storeLater]);
  const forget = useCallback(() => {
    setTouched(false);
    setRestored(false);
    storeLater.cancel();
    storeDraft(key, undefined);
  }, [key, storeLater]);
  return {
    draft,
    change: (next: Draft) => {
      setTouched(true);
      setDraft(next);
      storeLater(next);
    },
    /** Whether the draft is from before this page was opened. The editor then says so. */
    isRestored,
    /** Whether there is unsaved text. */
    isTouched,
    /** Removes the draft after a save. */
    forget,
    /** Removes the draft and shows `to`, which is normally the text that the service has. */
    discard: (to: Draft) => {
      forget();
      setDraft(to);
    },
  };
}
