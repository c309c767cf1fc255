import { Alert, Button, Code, Group, Modal, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import type { OperationId } from '../../api/client.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { text } from '../../text/text.ts';

const words = text.developers.secret;

interface Dialog {
  opened: boolean;
  onClose: () => void;
  /** The operation whose response contains the secret. */
  operation: OperationId;
  /** Undefined until the secret is created. */
  secret: string | undefined;
  /** Next steps, below the secret. */
  next?: ReactNode;
}

/** Asks for the input of a new secret, then shows the secret once. Closing the dialog clears it from the page. */
export function SecretDialog({
  title,
  createdTitle,
  children,
  ...dialog
}: Dialog & { title: string; createdTitle: string; children?: ReactNode }) {
  const { opened, onClose, secret } = dialog;
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={secret === undefined ? title : createdTitle}
      size="lg"
      closeButtonProps={{ 'aria-label': text.app.close }}
    >
      {secret === undefined ? children : <Secret {...dialog} secret={secret} />}
    </Modal>
  );
}

/** Clears the secret also from the cached response of `operation`. */
function Secret({ secret, operation, next, onClose }: Dialog & { secret: string }) {
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
      {next}
      <Group justify="flex-end">
        <Button onClick={onClose}>{words.done}</Button>
      </Group>
    </Stack>
  );
}
