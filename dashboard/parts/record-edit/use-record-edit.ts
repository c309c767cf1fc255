import { useDebouncedCallback } from '@mantine/hooks';
import { useCallback, useEffect, useState } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import {
  addChanges,
  type Changes,
  dropSavedChanges,
  findConflicts,
  findFieldsChangedByOthers,
  findUnsavedFields,
  renameFields,
  resolveConflict,
  withChanges,
} from './changes.ts';
import { createDraftKey, readStoredDraft, storeDraft } from './stored-drafts.ts';

/** The draft is stored when the user has not typed for this long, and immediately when the page is closed. */
const TYPING_MS = 300;

/** Tells whether a write was refused because another user had saved the record meanwhile. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 409 && typeof error.details.updatedAt === 'string';
}

/** A field that another user saved, and that this user has also changed or has seen with its earlier value. */
export interface FieldDifference<Fields> {
  name: keyof Fields;
  /** Absent if only the other user changed the field. */
  mine?: Fields[keyof Fields];
  theirs: Fields[keyof Fields];
}

/**
 * Edits the fields of a record. The screen shows the stored record with this user's changes on top, so another user's
 * change of another field appears immediately and stays. This browser keeps the changes until they are saved.
 * @param p.name identifies the record, unique in the project
 * @param p.stored the fields of the latest version that was read
 * @param p.isSaving while a write is running, a difference from the stored fields is not a conflict
 * @param p.oldNames the current name of each field that earlier releases stored under another name
 */
export function useRecordEdit<Fields extends object>({
  name,
  stored,
  isSaving,
  oldNames = {},
}: {
  name: string;
  stored: Fields;
  isSaving: boolean;
  oldNames?: Record<string, keyof Fields>;
}) {
  const key = createDraftKey(useSession(), name);
  const [storedDraft] = useState(() => readStoredDraft<Changes<Fields>>(key));
  const [changes, setChanges] = useState<Changes<Fields>>(renameFields(storedDraft?.draft ?? {}, { oldNames }));
  const [isRestored, setRestored] = useState(storedDraft !== undefined);
  const [isStored, setStored] = useState(true);
  /** The fields on the screen when a write was refused as stale. */
  const [refused, setRefused] = useState<Fields>();
  const storeLater = useDebouncedCallback(
    (next: Changes<Fields>) => setStored(storeDraft(key, Object.keys(next).length === 0 ? undefined : next)),
    { delay: TYPING_MS, flushOnUnmount: true },
  );
  useEffect(() => {
    // `storeLater.flush` is a new function in each render, and a listener is removed only by the function that was
    // added.
    const flush = () => storeLater.flush();
    window.addEventListener('pagehide', flush);
    return () => window.removeEventListener('pagehide', flush);
  }, [storeLater]);

  const applyChanges = useCallback(
    (next: Changes<Fields>) => {
      setChanges(next);
      storeLater(next);
    },
    [storeLater],
  );
  const conflicts = isSaving ? [] : findConflicts(stored, changes);
  const theirs = refused && !isSaving ? findFieldsChangedByOthers(refused, stored) : [];
  const differences: FieldDifference<Fields>[] = [...new Set([...conflicts, ...theirs])].map((field) => ({
    name: field,
    theirs: stored[field],
    ...(conflicts.includes(field) && { mine: changes[field]?.to as Fields[keyof Fields] }),
  }));
  const isTouched = findUnsavedFields(stored, changes).length > 0;
  return {
    /** The values that the screen shows and a save sends. */
    fields: withChanges(stored, changes),
    /**
     * Applies this user's changes to a version that was read just before a save. Use it for a record without a version,
     * because the API cannot refuse a stale write of it.
     */
    applyTo: (latest: Fields) => ({
      fields: withChanges(latest, changes),
      hasConflict: findConflicts(latest, changes).length > 0,
    }),
    change: (typed: Partial<Fields>) => applyChanges(addChanges(stored, changes, typed)),
    /** Whether there are unsaved changes. */
    isTouched,
    /** Whether the changes are a draft from before this page was opened. */
    isRestored: isRestored && isTouched,
    restoredAt: storedDraft?.at,
    /** Whether this browser stores the draft. */
    isStored,
    /**
     * The fields that both users changed; after a refused write, also the other fields that another user saved. The
     * user settles or confirms them before the next save.
     */
    differences,
    hasConflict: differences.length > 0,
    /** Call it after a write was refused as stale, and then read the record again. */
    markStale: () => setRefused(stored),
    settle: (choices: Partial<Record<keyof Fields, 'mine' | 'theirs'>>) => {
      setRefused(undefined);
      applyChanges(resolveConflict(stored, changes, choices));
    },
    /** Call it after a save, with the fields that were sent and the fields that the service stored. */
    markSaved: (sent: Fields, savedFields: Fields) => {
      setRestored(false);
      setRefused(undefined);
      setChanges((latest) => {
        const left = dropSavedChanges(latest, sent, savedFields);
        storeLater.cancel();
        setStored(storeDraft(key, Object.keys(left).length === 0 ? undefined : left));
        return left;
      });
    },
    discard: () => {
      setRestored(false);
      setRefused(undefined);
      setChanges({});
      storeLater.cancel();
      setStored(storeDraft(key, undefined));
    },
  };
}

export type RecordEdit<Fields extends object> = ReturnType<typeof useRecordEdit<Fields>>;
