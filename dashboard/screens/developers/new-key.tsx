import { Button, Checkbox, Code, Group, SegmentedControl, Select, SimpleGrid, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { InputOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { toCurlCommand } from '../../parts/curl.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { text } from '../../text/text.ts';
import { useFirstEmail } from '../messages/first-email.ts';
import { SecretDialog } from './secret-dialog.tsx';

const words = text.developers.keys;
const DAY_MS = 86_400_000;
type Body = InputOf<'createApiKey'>['body'];
type Expiry = keyof typeof words.expiry;

/** Scopes that a key can have, by subject. */
const SCOPES: Body['scopes'] = [
  'email:send',
  'emails:view',
  'sms:send',
  'sms:view',
  'contacts:view',
  'contacts:edit',
  'events:view',
  'events:edit',
  'templates:view',
  'templates:edit',
  'campaigns:view',
  'campaigns:edit',
  'campaigns:send',
  'segments:view',
  'segments:edit',
  'workflows:view',
  'workflows:edit',
  'domains:view',
  'domains:edit',
  'analytics:view',
];

/** Creates a key and shows it once, with a command that sends a first email. */
export function NewKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const create = useWrite('createApiKey', { changes: ['listApiKeys'] });
  const key = create.data;
  const close = () => {
    create.reset();
    onClose();
  };
  return (
    <SecretDialog
      opened={opened}
      onClose={close}
      title={words.createTitle}
      createdTitle={words.createdTitle}
      operation="createApiKey"
      secret={key?.key}
      next={key?.scopes.includes('email:send') && <ExampleRequest secret={key.key} />}
    >
      <Form write={create} onCreate={(body) => create.mutate({ body })} />
    </SecretDialog>
  );
}

/**
 * Shows a command that works when copied, because it contains the key. The command and the key disappear when the
 * dialog closes.
 */
function ExampleRequest({ secret }: { secret: string }) {
  const firstEmail = useFirstEmail();
  if (!firstEmail) return null;
  const command = `TIDINGS_KEY='${secret}'\n${toCurlCommand(firstEmail)}`;
  return (
    <div>
      <Group justify="space-between" mb={4} wrap="nowrap">
        <Text size="sm">{words.tryIt}</Text>
        <CopyButton value={command} label={words.copyCommand} />
      </Group>
      <Code block tabIndex={0} style={{ overflowX: 'auto' }}>
        {command}
      </Code>
    </div>
  );
}

function Form({ write, onCreate }: { write: { isPending: boolean; error: unknown }; onCreate: (body: Body) => void }) {
  const { can } = useSession();
  const [name, setName] = useState('');
  const [mode, setMode] = useState<'live' | 'test'>('live');
  const [scopes, setScopes] = useState<string[]>(['email:send']);
  const [expiry, setExpiry] = useState<Expiry>('never');
  const ownScopes = SCOPES.filter((scope) => can(scope));
  const submit = () => {
    const expiresAt = expiry === 'never' ? undefined : new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
    onCreate({
      name: name.trim(),
      mode,
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      ...(expiresAt && { expiresAt }),
    });
  };
  return (
    <DialogForm action={words.create} isReady={name.trim() !== ''} write={write} onSubmit={submit}>
      <TextInput
        label={text.developers.name}
        placeholder={words.namePlaceholder}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={100}
        required
        data-autofocus
      />
      <Group align="flex-end">
        <div>
          <Text size="sm" fw={500} id="key-mode">
            {words.mode}
          </Text>
          <SegmentedControl
            aria-labelledby="key-mode"
            value={mode}
            onChange={(next) => setMode(next as typeof mode)}
            data={(['live', 'test'] as const).map((value) => ({ value, label: words.modes[value] }))}
          />
        </div>
        <Select
          label={words.expires}
          value={expiry}
          onChange={(next) => setExpiry((next as Expiry | null) ?? 'never')}
          data={(['30', '90', '365', 'never'] as const).map((value) => ({ value, label: words.expiry[value] }))}
          allowDeselect={false}
        />
      </Group>
      <Text size="sm" c="dimmed">
        {words.modesMean[mode]}
      </Text>
      <Checkbox.Group label={words.scopes} value={scopes} onChange={setScopes}>
        <Group gap="xs" my={6}>
          <Button size="compact-xs" variant="default" onClick={() => setScopes([...ownScopes])}>
            {words.all}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => setScopes([])}>
            {words.nothing}
          </Button>
          <Text size="sm" c="dimmed" aria-live="polite">
            {words.chosen(scopes.length)}
          </Text>
        </Group>
        <SimpleGrid cols={{ base: 1, xs: 2, sm: 3 }} spacing="xs">
          {SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} label={scope} disabled={!can(scope)} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
    </DialogForm>
  );
}
