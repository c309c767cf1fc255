import { Code, Text } from '@mantine/core';
import type { ApiFailure } from '../api/client.ts';
import { getErrorText } from '../text/errors.ts';
import { text } from '../text/text.ts';

/**
 * Shows a failure's code and request id behind "Details", for a developer or an operator; with the API's message,
 * unless it is shown already.
 */
export function FailureDetails({ failure }: { failure: ApiFailure }) {
  const { code, message, suggestion, requestId } = failure;
  const sentences = getErrorText(code).isSpecific ? [suggestion] : [message, suggestion];
  return (
    <details>
      <Text component="summary" size="xs" c="dimmed">
        {text.parts.details}
      </Text>
      <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: 'anywhere' }}>
        <Code>{code}</Code> {sentences.filter(Boolean).join(' ')}
        {requestId && <div>{text.parts.requestId(requestId)}</div>}
      </Text>
    </details>
  );
}
