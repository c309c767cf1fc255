import { Text } from '@mantine/core';
import { text } from '../text/text.ts';
import { Instant } from './instant.tsx';

/** Shows in the header of an editor whether everything is saved, and the time of the last save. */
export function SavedState({ isUnsaved, savedAt }: { isUnsaved: boolean; savedAt: string }) {
  return (
    <span>
      <span aria-live="polite">{isUnsaved ? text.parts.unsaved : text.parts.saved}</span>
      {!isUnsaved && (
        <Text span inherit visibleFrom="sm">
          {' '}
          <Instant at={savedAt} />
        </Text>
      )}
    </span>
  );
}
