import {
  ActionIcon,
  Button,
  Group,
  NumberInput,
  Paper,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { text } from '../../text/text.ts';
import { BodyEditor } from './body-editor.tsx';
import { firstVersions, newVersion, nextName, VERSIONS_MAX, type VersionDraft } from './campaign-draft.ts';
import type { Editing } from './editing.ts';

const words = text.campaigns;

/** The variants of the email: none, or two to five. */
export function Versions(editing: Editing) {
  const { draft, change, isReadOnly } = editing;
  const { versions } = draft;
  const set = (changed: VersionDraft) =>
    change({ versions: versions.map((one) => (one.key === changed.key ? changed : one)) });
  // A single variant is the same as no variants.
  const remove = (key: string) =>
    change({ versions: versions.length > 2 ? versions.filter((one) => one.key !== key) : [] });
  return (
    <Paper withBorder p="md">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          {words.versions}
        </Title>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} aria-hidden />}
          disabled={isReadOnly || versions.length >= VERSIONS_MAX}
          onClick={() =>
            change({
              versions: versions.length === 0 ? firstVersions() : [...versions, newVersion(nextName(versions))],
            })
          }
        >
          {versions.length === 0 ? words.addVersions : words.addVersion}
        </Button>
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        {words.versionsWhat}
      </Text>
      <Stack>
        {versions.map((version, n) => (
          <Version key={version.key} n={n} version={version} editing={editing} onChange={set} onRemove={remove} />
        ))}
      </Stack>
    </Paper>
  );
}

function Version({
  n,
  version,
  editing: { draft, fault, isReadOnly },
  onChange,
  onRemove,
}: {
  n: number;
  version: VersionDraft;
  editing: Editing;
  onChange: (version: VersionDraft) => void;
  onRemove: (key: string) => void;
}) {
  const own = (name: 'name' | 'subject' | 'preheader' | 'from', label: string, above?: string) => (
    <TextInput
      label={label}
      placeholder={above}
      value={version[name]}
      onChange={(event) => onChange({ ...version, [name]: event.currentTarget.value })}
      error={fault(`variants.${n}.${name}`)}
      readOnly={isReadOnly}
    />
  );
  return (
    <Paper withBorder p="sm" component="fieldset" aria-label={`${words.version} ${version.name}`}>
      <Group justify="space-between" mb={4}>
        <Title order={3} size="h6">
          {words.version} {version.name}
        </Title>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={words.removeVersion(version.name)}
          onClick={() => onRemove(version.key)}
          disabled={isReadOnly}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {own('name', words.versionName)}
        <NumberInput
          label={words.weight}
          description={words.weightWhat}
          min={0.01}
          value={version.weight}
          onChange={(weight) => onChange({ ...version, weight: Number(weight) || 1 })}
          error={fault(`variants.${n}.weight`)}
          readOnly={isReadOnly}
        />
        {own('subject', words.ownSubject, draft.subject || words.asAbove)}
        {own('preheader', words.ownPreheader, draft.preheader || words.asAbove)}
        {own('from', words.ownFrom, draft.from || words.asAbove)}
        <Switch
          mt="xl"
          label={words.ownBody}
          checked={version.body !== undefined}
          disabled={isReadOnly}
          onChange={(event) => onChange({ ...version, body: event.currentTarget.checked ? draft.body : undefined })}
        />
      </SimpleGrid>
      {version.body !== undefined && (
        <BodyEditor
          label={words.ownBody}
          subject={version.subject || draft.subject}
          preheader={version.preheader || draft.preheader}
          value={version.body}
          onChange={(body) => onChange({ ...version, body })}
          isReadOnly={isReadOnly}
          fault={fault(`variants.${n}.body`)}
        />
      )}
    </Paper>
  );
}
