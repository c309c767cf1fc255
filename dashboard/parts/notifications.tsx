import { Button, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ApiFailure } from '../api/client.ts';
import { getErrorText } from '../text/errors.ts';
import { text } from '../text/text.ts';
import { FailureDetails } from './failure-details.tsx';

const UNDO_MS = 10_000;

/** Shows a notification that an action succeeded. */
export function notifySuccess(message: string): void {
  notifications.show({ message, color: 'green', closeButtonProps: { 'aria-label': text.app.close } });
}

/**
 * Shows a notification that an action succeeded, with an Undo button for ten seconds.
 * @param undo the action of the button. This function shows a failure of `undo`; `undo` itself may show a success.
 */
export function notifyWithUndo(message: string, undo: () => unknown): void {
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
            Promise.resolve(undo()).catch(notifyFailure);
          }}
        >
          {text.parts.undo}
        </Button>
      </Group>
    ),
  });
}

/** Shows a notification about a failure, for actions whose screen has no space for errors. */
export function notifyFailure(error: unknown): void {
  const failure = error instanceof ApiFailure ? error : undefined;
  const { title, help, isSpecific } = getErrorText(failure?.code);
  notifications.show({
    color: 'red',
    autoClose: UNDO_MS,
    title,
    message: (
      <>
        {isSpecific && <Text size="sm">{describeProblem(error)}</Text>}
        <Text size="sm">{help}</Text>
        {failure && <FailureDetails failure={failure} />}
      </>
    ),
    closeButtonProps: { 'aria-label': text.app.close },
  });
}

/** Returns the errors of the fields, because a notification has no form beside it; else the message. */
function describeProblem(error: unknown): string {
  const fields = error instanceof ApiFailure ? error.fields : [];
  if (fields.length > 0) return fields.map(({ field, message }) => `${field}: ${message}`).join(' ');
  return error instanceof Error ? error.message : String(error);
}

/**
 * Runs `then` after a write, and shows the write's failure. Unlike the callbacks of `mutate`, it also runs if the
 * button was removed meanwhile.
 * @param fail shows the failure; does nothing if the form shows it
 */
export function runAfterWrite<Response>(
  write: Promise<Response>,
  then: (response: Response) => void,
  fail: (error: unknown) => void = notifyFailure,
): void {
  write.then(then, fail);
}
