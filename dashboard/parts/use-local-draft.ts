import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useEffect, useState } from 'react';
import { useSession } from '../app/session.ts';
import { createDraftKey, readStoredDraft, storeChangedDraft, storeDraft } from './record-edit/stored-drafts.ts';

/** The draft is stored when the user has not typed for this long, and immediately when the page is closed. */
const STORE_AFTER_MS = 300;

/**
 * Stores the typed text of a new record in this browser until it is created or discarded, so that a reload or a closed
 * tab loses nothing. For a record that exists, use `useRecordEdit`: a copy of all fields would revert what other users
 * save meanwhile.
 * @param p.name identifies the form, unique in the project
 * @param p.initial the fields of the empty form; the browser stores no draft with the same text
 */
export function useLocalDraft<Draft>({ name, initial }: { name: string; initial: Draft }) {
  const key = createDraftKey(useSession(), name);
  const [storedDraft] = useState(() => readStoredDraft<Draft>(key)?.draft);
  const [draft, setDraft] = useState<Draft>(storedDraft ?? initial);
  const [isRestored, setRestored] = useState(storedDraft !== undefined);
  const [isTouched, setTouched] = useState(storedDraft !== undefined);
  const storeLater = useDebouncedCallback((draft: Draft) => void storeChangedDraft(key, { draft, initial }), {
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
    /** Removes the draft after the record was created. */
    forget,
    /** Removes the draft and shows `to`, which is normally the empty form. */
    discard: (to: Draft) => {
      forget();
      setDraft(to);
    },
  };
}
