import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core';
import { ApiFailure } from '../api/client.ts';
import { text } from '../text/text.ts';

/** Shows a failure with the API's message: the problem, the field, the remedy, and the request id for an operator. */
export function Failed({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const failure = error instanceof ApiFailure ? error : undefined;
  return (
    <Alert color="red" title={text.parts.failed} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error instanceof Error ? error.message : String(error)}</Text>
        {failure && failure.fields.length > 0 && (
          <List size="sm">
            {failure.fields.map(({ field, message }) => (
              <List.Item key={`${field} ${message}`}>
                <Code>{field}</Code> {message}
              </List.Item>
            ))}
          </List>
        )}
        {failure?.suggestion && <Text size="sm">{failure.suggestion}</Text>}
        <Group gap="xs">
          {retry && (
            <Button size="xs" variant="default" onClick={retry}>
              {text.parts.tryAgain}
            </Button>
          )}
          {failure && (
            <Text size="xs" c="dimmed">
              {failure.code}
              {failure.requestId && ` · ${text.parts.requestId(failure.requestId)}`}
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}
