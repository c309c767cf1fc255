import { describe, expect, it } from 'vitest';
import {
  addChanges,
  dropSavedChanges,
  findConflicts,
  findFieldsChangedByOthers,
  findUnsavedFields,
  renameFields,
  resolveConflict,
  withChanges,
} from './changes.ts';

interface Fields {
  name: string;
  subject: string;
  rows: { key: string; text: string }[];
  window: string | null | undefined;
}
const stored: Fields = { name: 'N', subject: 'S', rows: [{ key: '1', text: 'a' }], window: undefined };
const mine = addChanges(stored, {}, { subject: 'Mine' });

describe('changes of a record', () => {
  it('are the fields with different content, also after a text is stored as JSON', () => {
    const changes = addChanges(
      stored,
      {},
      { name: 'N', subject: 'Mine', rows: [{ key: '2', text: 'a' }], window: null },
    );
    expect(findUnsavedFields(stored, changes)).toEqual(['subject', 'window']);
    const kept = JSON.parse(JSON.stringify(changes));
    expect(withChanges(stored, kept)).toEqual({ ...stored, subject: 'Mine', window: null });
    expect(findConflicts(stored, kept)).toEqual([]);
    expect(addChanges(stored, changes, { subject: 'S', window: undefined })).toEqual({});
  });

  it('that an earlier release has stored get the current names of their fields', () => {
    const ofEarlierRelease = { title: { from: 'N', to: 'Mine' }, subject: { from: 'S', to: 'Mine' } };
    const changes = renameFields<Fields>(ofEarlierRelease, { oldNames: { title: 'name' } });
    expect(withChanges(stored, changes)).toEqual({ ...stored, name: 'Mine', subject: 'Mine' });
  });

  it("stay on top of another user's changes of other fields", () => {
    const theirs = { ...stored, name: 'Theirs' };
    expect(withChanges(theirs, mine)).toEqual({ ...theirs, subject: 'Mine' });
    expect(findConflicts(theirs, mine)).toEqual([]);
    expect(findFieldsChangedByOthers(stored, theirs)).toEqual(['name']);
  });

  it('conflict if both changed a field, until one value is chosen', () => {
    const theirs = { ...stored, subject: 'Theirs' };
    expect(findConflicts(theirs, mine)).toEqual(['subject']);
    // Further typing does not end a conflict.
    expect(findConflicts(theirs, addChanges(theirs, mine, { subject: 'Mine, too' }))).toEqual(['subject']);
    const kept = resolveConflict(theirs, mine, { subject: 'mine' });
    expect([findConflicts(theirs, kept), withChanges(theirs, kept).subject]).toEqual([[], 'Mine']);
    expect(resolveConflict(theirs, mine, { subject: 'theirs' })).toEqual({});
    expect(findConflicts({ ...stored, subject: 'Mine' }, mine)).toEqual([]);
  });

  it('are removed once saved, except text that was typed meanwhile', () => {
    const sent = withChanges(stored, mine);
    const later = addChanges(stored, mine, { subject: 'Mine, later', name: 'Also' });
    expect(dropSavedChanges(mine, sent, sent)).toEqual({});
    expect(dropSavedChanges(later, sent, sent)).toEqual({
      subject: { from: 'Mine', to: 'Mine, later' },
      name: { from: 'N', to: 'Also' },
    });
  });
});
