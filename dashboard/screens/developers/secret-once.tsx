import { Alert, Button, Code, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { OperationId } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { text } from '../../text/text.ts';

const words = text.developers.secret;

/** Shows a secret once. When it is closed the page forgets it, also where the answer of `operation` was kept. */
export function SecretOnce({
  secret,
  operation,
  onDone,
}: {
  secret: string;
  operation: OperationId;
  onDone: () => void;
}) {
  const client = useQueryClient();
  useEffect(() => {
    const cache = client.getMutationCache();
    return () => {
      for (const mutation of cache.findAll({ mutationKey: [operation] })) cache.remove(mutation);
    };
  }, [client, operation]);
  return (
    <Stack>
      <Group wrap="nowrap" gap="xs">
        <Code block flex={1} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
          {secret}
        </Code>
        <CopyButton value={secret} />
      </Group>
      <Alert color="yellow">{words.once}</Alert>
      <Group justify="flex-end">
        <Button onClick={onDone}>{words.done}</Button>
      </Group>
    </Stack>
  );
}
