import { ActionIcon, Box, Button, Group, Stack, Table, Text, TextInput, Tooltip, UnstyledButton } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { useWrite } from '../../../api/queries.ts';
import { ActionButton, useMissingPermissionText } from '../../../parts/action-button.tsx';
import { CardSection } from '../../../parts/card-section.tsx';
import { Failed } from '../../../parts/failed.tsx';
import { ExactTime } from '../../../parts/instant.tsx';
import { notifyFailure, notifyWithUndo, runAfterWrite } from '../../../parts/notifications.tsx';
import { isTextList } from '../../../parts/text-list.ts';
import { text } from '../../../text/text.ts';
import classes from './contact.module.css';
import { CONTACT_CHANGED } from './contact-changed.ts';
import type { Contact } from './contact-type.ts';
import { type DataValueType, detectType, formatForInput, readDraft } from './data-values.ts';
import { ValueInput } from './value-input.tsx';

const words = text.contacts.data;
const LONG_CHARS = 300;

/** The contact's data. Each value is edited in place by its type, and each change can be undone. */
export function ContactData({ contact }: { contact: Contact }) {
  const [adding, setAdding] = useState(false);
  const keys = Object.keys(contact.data).sort((a, b) => a.localeCompare(b));
  return (
    <CardSection
      title={words.title}
      isPadded
      aside={
        <ActionButton
          needs="contacts:edit"
          size="compact-sm"
          variant="default"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => setAdding(true)}
        >
          {words.add}
        </ActionButton>
      }
    >
      {keys.length === 0 && !adding && (
        <Text size="sm" c="dimmed">
          {words.none}
        </Text>
      )}
      {keys.length > 0 && (
        <Table aria-label={words.title} layout="fixed" className={classes.data}>
          <Table.Tbody>
            {keys.map((key) => (
              <Row key={key} contact={contact} name={key} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {adding && <NewField contact={contact} onEnd={() => setAdding(false)} />}
    </CardSection>
  );
}

/** Saves one value, or removes it with null, and offers to undo it. */
function useSave(contact: Contact) {
  const save = useWrite('updateContact', { changes: CONTACT_CHANGED });
  const undo = useWrite('updateContact', { changes: CONTACT_CHANGED });
  const params = { id: contact.id };
  return {
    error: save.error,
    isPending: save.isPending,
    set: (p: {
      key: string;
      value: unknown;
      message: string;
      onSaved?: () => void;
      onFailed?: (error: unknown) => void;
    }) => {
      const { key, value, message, onFailed = () => {} } = p;
      const before = Object.hasOwn(contact.data, key) ? contact.data[key] : null;
      runAfterWrite(
        save.mutateAsync({ params, body: { data: { [key]: value } } }),
        () => {
          p.onSaved?.();
          notifyWithUndo(message, () => undo.mutateAsync({ params, body: { data: { [key]: before } } }));
        },
        onFailed,
      );
    },
  };
}

function Row({ contact, name }: { contact: Contact; name: string }) {
  const [editing, setEditing] = useState(false);
  const whyNot = useMissingPermissionText('contacts:edit');
  const save = useSave(contact);
  const value = contact.data[name];
  return (
    <Table.Tr>
      <Table.Th scope="row" w="36%" fw={500} style={{ overflowWrap: 'anywhere', verticalAlign: 'top' }}>
        {name}
      </Table.Th>
      <Table.Td style={{ overflowWrap: 'anywhere', verticalAlign: 'top' }}>
        {editing ? (
          <Editor contact={contact} name={name} onEnd={() => setEditing(false)} />
        ) : (
          <Tooltip label={whyNot} disabled={!whyNot}>
            <UnstyledButton
              w="100%"
              fz="sm"
              lh="var(--mantine-line-height)"
              style={{ verticalAlign: 'top' }}
              aria-label={words.edit(name)}
              aria-disabled={whyNot !== undefined || undefined}
              onClick={() => whyNot === undefined && setEditing(true)}
            >
              <Value value={value} />
            </UnstyledButton>
          </Tooltip>
        )}
      </Table.Td>
      <Table.Td w={44} style={{ verticalAlign: 'top' }}>
        <Tooltip label={whyNot ?? words.remove(name)}>
          <ActionIcon
            variant="subtle"
            color="gray"
            mt={-3}
            className={classes.remove}
            aria-label={words.remove(name)}
            aria-disabled={whyNot !== undefined || undefined}
            data-disabled={whyNot !== undefined || undefined}
            onClick={() =>
              whyNot === undefined &&
              save.set({ key: name, value: null, message: words.removed(name), onFailed: notifyFailure })
            }
          >
            <IconX size={16} />
          </ActionIcon>
        </Tooltip>
      </Table.Td>
    </Table.Tr>
  );
}

function Value({ value }: { value: unknown }) {
  const type = detectType(value);
  if (type === 'boolean') return <>{value ? words.yes : words.no}</>;
  if (type === 'date' && String(value).includes('T')) return <ExactTime at={String(value)} />;
  if (isTextList(value) && value.length === 0)
    return (
      <Text span inherit c="dimmed">
        {words.emptyList}
      </Text>
    );
  const valueText = type === 'json' ? formatJson(value) : isTextList(value) ? value.join(', ') : String(value);
  return <>{valueText.length > LONG_CHARS ? `${valueText.slice(0, LONG_CHARS)} …` : valueText}</>;
}

/** Formats JSON: a flat object as its fields, such as "city: Kyoto, zip: 600-8216". */
function formatJson(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const fields = Object.entries(value);
  if (fields.length === 0 || fields.some(([, field]) => typeof field === 'object')) return JSON.stringify(value);
  return fields.map(([name, field]) => `${name}: ${field}`).join(', ');
}

/** Types with inputs other than text. When the user chooses one, its input starts with the stored value. */
const STARTS_WITH_STORED: ReadonlySet<DataValueType> = new Set(['boolean', 'list', 'json']);

function Editor({ contact, name, onEnd }: { contact: Contact; name: string; onEnd: () => void }) {
  const stored = contact.data[name];
  const [type, setType] = useState<DataValueType>(detectType(stored));
  const [draft, setDraft] = useState(formatForInput(stored, type));
  const [fault, setFault] = useState<string>();
  const save = useSave(contact);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = readDraft(draft, type);
    if ('fault' in read) setFault(words[read.fault]);
    else save.set({ key: name, value: read.value, message: words.saved(name), onSaved: onEnd });
  };
  return (
    <form onSubmit={submit} onKeyDown={handleEscape(onEnd)}>
      <Stack gap="xs">
        <ValueInput
          type={type}
          draft={draft}
          fault={fault}
          focused
          onType={(next) => {
            setDraft(formatForInput(STARTS_WITH_STORED.has(next) ? stored : draft, next));
            setType(next);
            setFault(undefined);
          }}
          onDraft={setDraft}
        />
        {save.error && <Failed error={save.error} />}
        <SaveButtons isPending={save.isPending} onEnd={onEnd} />
      </Stack>
    </form>
  );
}

function NewField({ contact, onEnd }: { contact: Contact; onEnd: () => void }) {
  const [name, setName] = useState('');
  const [type, setType] = useState<DataValueType>('text');
  const [draft, setDraft] = useState('');
  const [faults, setFaults] = useState<{ name?: string; value?: string }>({});
  const save = useSave(contact);
  const key = name.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const read = readDraft(draft, type);
    const ofName = key === '' ? words.nameNeeded : Object.hasOwn(contact.data, key) ? words.taken : undefined;
    const newFaults = { ...(ofName && { name: ofName }), ...('fault' in read && { value: words[read.fault] }) };
    setFaults(newFaults);
    if (Object.keys(newFaults).length > 0 || 'fault' in read) return;
    save.set({ key, value: read.value, message: words.added(key), onSaved: onEnd });
  };
  return (
    <Box component="form" onSubmit={submit} mt="sm" onKeyDown={handleEscape(onEnd)}>
      <Stack gap="xs">
        <Group gap="xs" align="flex-start">
          <TextInput
            aria-label={words.name}
            placeholder={words.name}
            size="xs"
            flex="1 1 120px"
            maxLength={100}
            autoFocus
            value={name}
            error={faults.name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <ValueInput
            type={type}
            draft={draft}
            fault={faults.value}
            onType={(next) => {
              setDraft(formatForInput(undefined, next));
              setType(next);
            }}
            onDraft={setDraft}
          />
        </Group>
        {save.error && <Failed error={save.error} />}
        <SaveButtons isPending={save.isPending} onEnd={onEnd} />
      </Stack>
    </Box>
  );
}

function SaveButtons({ isPending, onEnd }: { isPending: boolean; onEnd: () => void }) {
  return (
    <Group gap="xs">
      <Button type="submit" size="compact-sm" loading={isPending}>
        {words.save}
      </Button>
      <Button size="compact-sm" variant="default" onClick={onEnd}>
        {text.parts.cancel}
      </Button>
    </Group>
  );
}

function handleEscape(end: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key === 'Escape') end();
  };
}
