import { useCallback, useEffect, useState } from 'react';
import { useSession } from '../app/session.ts';

/** Saved a moment after the last key: a reload loses nothing that somebody has seen standing there. */
const KEEP_AFTER_MS = 300;

/**
 * What is typed in an editor, kept in this browser until it is saved or discarded: a reload or a closed tab loses
 * nothing.
 * @param p.name of what is edited, one a project
 * @param p.saved what is stored in the service; where the draft is the same, none is kept
 */
export function useLocalDraft<Draft>({ name, saved }: { name: string; saved: Draft }) {
  const { projectId } = useSession();
  const key = `tidings-draft:${projectId}:${name}`;
  const [kept] = useState(() => read<Draft>(key));
  const [draft, setDraft] = useState<Draft>(kept ?? saved);
  const [isRestored, setRestored] = useState(kept !== undefined);
  const [isTouched, setTouched] = useState(kept !== undefined);
  useEffect(() => {
    if (!isTouched) return;
    const timer = setTimeout(() => write(key, draft), KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, [key, draft, isTouched]);
  const forget = useCallback(() => {
    setTouched(false);
    setRestored(false);
    write(key, undefined);
  }, [key]);
  return {
    draft,
    change: (next: Draft) => {
      setTouched(true);
      setDraft(next);
    },
    /** It was kept before this page was opened: the editor says so. */
    isRestored,
    /** Something was typed that is not saved. */
    isTouched,
    /** Saved: nothing is to be kept. */
    forget,
    /** Back to what is stored. */
    discard: (to: Draft) => {
      forget();
      setDraft(to);
    },
  };
}

function read<Draft>(key: string): Draft | undefined {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as Draft);
  } catch {
    // A browser that keeps nothing, or what is no JSON: as if there were no draft.
    return undefined;
  }
}

function write(key: string, draft: unknown): void {
  try {
    if (draft === undefined) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // Storage is full or forbidden: the draft lives as long as the page, as in any form.
  }
}
