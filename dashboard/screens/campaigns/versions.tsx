import { ActionIcon, Button, Group, NumberInput, Paper, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { PanelGroup } from '../../parts/editor-frame.tsx';
import { text } from '../../text/text.ts';
import { firstVersions, newVersion, nextName, VERSIONS_MAX, type VersionDraft } from './campaign-draft.ts';
import type { Editing } from './editing.ts';

const words = text.campaigns;

/** The variants of the email: none, or two to five. A variant with a body of its own is written on the canvas. */
export function Versions({ onOwnBody, ...editing }: Editing & { onOwnBody: (key: string) => void }) {
  const { draft, change, isReadOnly } = editing;
  const { versions } = draft;
  const set = (changed: VersionDraft) =>
    change({ versions: versions.map((one) => (one.key === changed.key ? changed : one)) });
  // A single variant is the same as no variants.
  const remove = (key: string) =>
    change({ versions: versions.length > 2 ? versions.filter((one) => one.key !== key) : [] });
  return (
    <PanelGroup>
      <Title order={2} size="h5">
        {words.versions}
      </Title>
      <Text size="xs" c="dimmed">
        {words.versionsWhat}
      </Text>
      {versions.map((version, n) => (
        <Version
          key={version.key}
          n={n}
          version={version}
          editing={editing}
          onChange={set}
          onRemove={remove}
          onOwnBody={onOwnBody}
        />
      ))}
      <div>
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
      </div>
    </PanelGroup>
  );
}

function Version({
  n,
  version,
  editing: { draft, fault, isReadOnly },
  onChange,
  onRemove,
  onOwnBody,
}: {
  n: number;
  version: VersionDraft;
  editing: Editing;
  onChange: (version: VersionDraft) => void;
  onRemove: (key: string) => void;
  onOwnBody: (key: string) => void;
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
      <Stack gap="sm">
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
        {own('subject', words.ownSubject, draft.subject || words.sameAsMain)}
        {own('preheader', words.ownPreheader, draft.preheader || words.sameAsMain)}
        {own('from', words.ownFrom, draft.from || words.sameAsMain)}
        <Switch
          label={words.ownBody}
          checked={version.body !== undefined}
          disabled={isReadOnly}
          onChange={({ currentTarget: { checked } }) => {
            onChange({ ...version, body: checked ? draft.body : undefined });
            onOwnBody(checked ? version.key : '');
          }}
        />
      </Stack>
    </Paper>
  );
}
