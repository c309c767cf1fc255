import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ApiFailure } from '../api/client.ts';
import { text } from '../text/text.ts';

const UNDO_MS = 10_000;

/** Says in the corner that something was done. */
export function tellDone(message: string): void {
  notifications.show({ message, color: 'green', closeButtonProps: { 'aria-label': text.app.close } });
}

/**
 * Says that it was done, and lets it be undone for ten seconds.
 * @param undo tells by itself that it is done, where that has to be said; its failure is told here
 */
export function tellUndoable(message: string, undo: () => unknown): void {
  const id = notifications.show({
    autoClose: UNDO_MS,
    closeButtonProps: { 'aria-label': text.app.close },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            notifications.hide(id);
            Promise.resolve(undo()).catch(tellFailure);
          }}
        >
          {text.parts.undo}
        </Button>
      </Group>
    ),
  });
}

/** Says that it failed, in the API's words. For what has no place on the screen to say so. */
export function tellFailure(error: unknown): void {
  const failure = error instanceof ApiFailure ? error : undefined;
  notifications.show({
    color: 'red',
    autoClose: UNDO_MS,
    title: error instanceof Error ? error.message : String(error),
    message: [failure?.suggestion, failure?.requestId && text.parts.requestId(failure.requestId)]
      .filter(Boolean)
      .join(' '),
    closeButtonProps: { 'aria-label': text.app.close },
  });
}

/**
 * Does something when a write is done, and tells its failure. Unlike the callbacks of `mutate` it does so too where the
 * button has gone meanwhile: what was written may leave nothing to press.
 */
export function whenDone<Answer>(write: Promise<Answer>, then: (answer: Answer) => void): void {
  write.then(then, tellFailure);
}
