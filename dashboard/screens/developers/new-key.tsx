import {
  Button,
  Checkbox,
  Group,
  Modal,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { InputOf } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { Failed } from '../../parts/failed.tsx';
import { text } from '../../text/text.ts';
import { SecretOnce } from './secret-once.tsx';

const words = text.developers.keys;
const DAY_MS = 86_400_000;
type Body = InputOf<'createApiKey'>['body'];
type Expiry = keyof typeof words.expiry;

/** Scopes that a key can hold, by what they are about. */
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

/** Makes a key, and shows it once. */
export function NewKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const create = useWrite('createApiKey', { changes: ['listApiKeys'] });
  const close = () => {
    create.reset();
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={create.data ? words.made : words.createTitle}
      size="lg"
      closeButtonProps={{ 'aria-label': text.app.close }}
    >
      {create.data ? (
        <SecretOnce secret={create.data.key} operation="createApiKey" onDone={close} />
      ) : (
        <Form onCreate={(body) => create.mutate({ body })} isPending={create.isPending} error={create.error} />
      )}
    </Modal>
  );
}

function Form({ onCreate, isPending, error }: { onCreate: (body: Body) => void; isPending: boolean; error: unknown }) {
  const { can } = useSession();
  const [name, setName] = useState('');
  const [mode, setMode] = useState<'live' | 'test'>('live');
  const [scopes, setScopes] = useState<string[]>(['email:send']);
  const [expiry, setExpiry] = useState<Expiry>('never');
  const held = SCOPES.filter((scope) => can(scope));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const expiresAt = expiry === 'never' ? undefined : new Date(Date.now() + Number(expiry) * DAY_MS).toISOString();
    onCreate({
      name: name.trim(),
      mode,
      scopes: SCOPES.filter((scope) => scopes.includes(scope)),
      ...(expiresAt && { expiresAt }),
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
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
            <Button size="compact-xs" variant="default" onClick={() => setScopes([...held])}>
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
        {error !== null && error !== undefined && <Failed error={error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isPending} disabled={name.trim() === ''}>
            {words.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
