import { Alert, Button, Group, Text } from '@mantine/core';
import type { ResponseOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { Instant } from '../../parts/instant.tsx';
import { notifySuccess } from '../../parts/notifications.tsx';
import { text } from '../../text/text.ts';

const words = text.operator;

/** Shows why the installation sends nothing, and a button that permits a clone to send. */
export function SendingHold({ hold }: { hold: ResponseOf<'getOperatorHealth'>['installation']['sendingHold'] }) {
  const resume = useWrite('resumeSending', { changes: ['getOperatorHealth'] });
  if (!hold) return null;
  return (
    <Alert color="orange" title={words.sendingWaits}>
      <Text size="sm">
        {words.sendingWaitsBecause[hold.reason]} <Instant at={hold.since} />
      </Text>
      {hold.reason === 'new' && (
        <Group mt="sm">
          <Button
            size="xs"
            loading={resume.isPending}
            onClick={() => resume.mutate({}, { onSuccess: () => notifySuccess(words.sendingResumed) })}
          >
            {words.resumeSending}
          </Button>
        </Group>
      )}
    </Alert>
  );
}
