import { Alert, Group, Paper, Stack, Switch, Text, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';
import { text } from '../../text/text.ts';
import { MAX_ADDRESSES, parseAddresses } from './addresses.ts';

const words = text.segments;
/** Operations whose responses become stale when members change. */
export const MEMBERS_CHANGED = ['getSegment', 'listSegments', 'listSegmentContacts', 'explainSegment'] as const;

/** Adds contacts to a static segment by address, and lists the addresses that have no contact. */
export function AddMembers({ segmentId }: { segmentId: string }) {
  const [typed, setTyped] = useState('');
  const [createMissing, setCreateMissing] = useState(false);
  const add = useWrite('addSegmentMembers', { changes: MEMBERS_CHANGED });
  const emails = parseAddresses(typed);
  const isTooMany = emails.length > MAX_ADDRESSES;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (emails.length === 0 || isTooMany) return;
    add.mutate({ params: { id: segmentId }, body: { emails, createMissing } }, { onSuccess: () => setTyped('') });
  };
  return (
    <Paper withBorder p="sm" mb="md">
      <form onSubmit={submit}>
        <Stack gap="xs">
          <Textarea
            label={words.addTitle}
            description={words.addHelp}
            autosize
            minRows={2}
            maxRows={8}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            error={isTooMany ? words.tooMany : undefined}
          />
          <Group justify="space-between">
            <Switch
              label={words.addMissing}
              checked={createMissing}
              onChange={(event) => setCreateMissing(event.currentTarget.checked)}
            />
            <ActionButton
              needs="segments:edit"
              type="submit"
              loading={add.isPending}
              disabled={emails.length === 0 || isTooMany}
            >
              {words.add}
            </ActionButton>
          </Group>
          {add.error && <Failed error={add.error} />}
          {add.data && (
            <Alert color={add.data.notFound.length > 0 ? 'yellow' : 'green'} role="status">
              {words.added(add.data.added, add.data.created)}
              {add.data.notFound.length > 0 && (
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {words.notFound(add.data.notFound.length)} {add.data.notFound.join(', ')}
                </Text>
              )}
            </Alert>
          )}
        </Stack>
      </form>
    </Paper>
  );
}
