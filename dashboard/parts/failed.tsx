import { Alert, Button, Code, List, Stack, Text } from '@mantine/core';
import { ApiFailure } from '../api/client.ts';
import { getErrorText } from '../text/errors.ts';
import { text } from '../text/text.ts';
import { FailureDetails } from './failure-details.tsx';

/** Shows a failure: the problem and the next step in the dashboard's words, the fields, and the API's details. */
export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const failure = error instanceof ApiFailure ? error : undefined;
  const { title, help, isSpecific } = getErrorText(failure?.code);
  const fields = failure?.fields ?? [];
  return (
    <Alert color="red" title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        {isSpecific && fields.length === 0 && <Text size="sm">{getMessage(error)}</Text>}
        {fields.length > 0 && (
          <List size="sm">
            {fields.map(({ field, message }) => (
              <List.Item key={`${field} ${message}`}>
                <Code>{field}</Code> {message}
              </List.Item>
            ))}
          </List>
        )}
        <Text size="sm">{help}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            {text.parts.tryAgain}
          </Button>
        )}
        {failure && <FailureDetails failure={failure} />}
      </Stack>
    </Alert>
  );
}

function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
