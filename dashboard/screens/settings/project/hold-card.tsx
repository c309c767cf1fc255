import { Alert, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ResponseOf } from '../../../api/client.ts';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton } from '../../../parts/action-button.tsx';
import { Instant } from '../../../parts/instant.tsx';
import { notifyFailure, notifySuccess } from '../../../parts/notifications.tsx';
import { text } from '../../../text/text.ts';

const words = text.settings.project;
const CHANGED = ['getProject', 'getMe', 'listAuditLog'] as const;

/**
 * Shows whether sending is paused, and the button that pauses or resumes it. Each button undoes the effect of the other
 * button.
 */
export function HoldCard({ project: { hold, operatorLimits } }: { project: ResponseOf<'getProject'> }) {
  const [reason, setReason] = useState('');
  const startHold = useWrite('holdProject', { changes: CHANGED });
  const release = useWrite('releaseProject', { changes: CHANGED });
  const pauseSending = () =>
    startHold.mutate(
      { body: reason.trim() === '' ? {} : { reason: reason.trim() } },
      { onError: notifyFailure, onSuccess: () => notifySuccess(words.sendingPaused) },
    );
  if (!hold.held) {
    return (
      <>
        <Text size="sm">{words.notHeld}</Text>
        <Group align="flex-end">
          <TextInput
            label={words.reason}
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            flex="1 1 220px"
          />
          <ActionButton needs="project:manage" variant="default" loading={startHold.isPending} onClick={pauseSending}>
            {words.pauseSending}
          </ActionButton>
        </Group>
      </>
    );
  }
  return (
    <Alert color="orange" title={words.held}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {hold.reason} <Instant at={hold.since} />
        </Text>
        <Text size="sm">{words.heldMeans}</Text>
        <ActionButton
          needs="project:manage"
          whyNot={operatorLimits.held ? words.heldByOperator : undefined}
          loading={release.isPending}
          onClick={() => release.mutate({}, { onError: notifyFailure, onSuccess: () => notifySuccess(words.released) })}
        >
          {words.release}
        </ActionButton>
      </Stack>
    </Alert>
  );
}
