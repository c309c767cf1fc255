import { Autocomplete, Group, Paper, Select, SimpleGrid, Stack, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { tellDone, tellFailure, tellUndoable } from '../../parts/tell.tsx';
import { text } from '../../text/text.ts';
import { BodyEditor } from './body-editor.tsx';
import { useSenders, useTemplates } from './choices.ts';
import type { Editing } from './editing.ts';
import { Versions } from './versions.tsx';

const words = text.campaigns;
/** The recommended line length of RFC 5322. Mail clients cut longer subjects. */
const SUBJECT_SHOWN = 78;

/** Content and sender of the email. */
export function ContentStep(editing: Editing) {
  const { draft, change, fault, isReadOnly } = editing;
  const senders = useSenders();
  const field = (name: 'name' | 'subject' | 'preheader' | 'fromName' | 'replyTo') => ({
    value: draft[name],
    onChange: (event: { currentTarget: { value: string } }) => change({ [name]: event.currentTarget.value }),
    error: fault(name),
    readOnly: isReadOnly,
  });
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput label={words.name} description={words.nameWhat} required maxLength={255} {...field('name')} />
        <TemplateChoice {...editing} />
        <TextInput label={words.fromName} maxLength={200} {...field('fromName')} />
        <Autocomplete
          label={words.from}
          required
          data={senders}
          value={draft.from}
          onChange={(from) => change({ from })}
          error={fault('from')}
          readOnly={isReadOnly}
        />
        <TextInput
          label={words.subject}
          required
          description={draft.subject.length > SUBJECT_SHOWN ? words.characters(draft.subject.length) : undefined}
          {...field('subject')}
        />
        <TextInput label={words.preheader} placeholder={words.preheaderWhat} maxLength={500} {...field('preheader')} />
        <TextInput label={words.replyTo} inputMode="email" {...field('replyTo')} />
      </SimpleGrid>
      <BodyEditor
        label={words.body}
        subject={draft.subject}
        preheader={draft.preheader}
        value={draft.body}
        onChange={(body) => change({ body })}
        isReadOnly={isReadOnly}
        fault={fault('body')}
      />
      <Versions {...editing} />
      <TestMail {...editing} />
    </Stack>
  );
}

function TemplateChoice({ draft, change, isReadOnly }: Editing) {
  const templates = useTemplates();
  const take = async (id: string | null) => {
    if (id === null) return;
    const before = { subject: draft.subject, body: draft.body, preheader: draft.preheader };
    try {
      const { name, subject, body, preheader } = await call('getTemplate', { params: { id } });
      change({ subject, body, preheader: preheader ?? '' });
      tellUndoable(words.templateTaken(name), () => change(before));
    } catch (error) {
      tellFailure(error);
    }
  };
  return (
    <Select
      label={words.template}
      description={words.templateWhat}
      data={templates.map(({ id, name }) => ({ value: id, label: name }))}
      value={null}
      onChange={(id) => void take(id)}
      searchable
      disabled={isReadOnly || templates.length === 0}
    />
  );
}

function TestMail({ campaign, draft, save, isUnsaved }: Editing) {
  const { email } = useSession();
  const [to, setTo] = useState(email);
  const [variant, setVariant] = useState<string | null>(null);
  const write = useWrite('testCampaign', { changes: [] });
  const send = async () => {
    if (isUnsaved && !(await save())) return;
    write.mutate(
      { params: { id: campaign.id }, body: { email: to, ...(variant !== null && { variant }) } },
      { onSuccess: () => tellDone(words.testSent(to)), onError: tellFailure },
    );
  };
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h5" mb="xs">
        {words.testMail}
      </Title>
      <Group align="flex-end">
        <TextInput
          label={words.testTo}
          inputMode="email"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          w={280}
        />
        {draft.versions.length > 0 && (
          <Select
            label={words.testVariant}
            placeholder={words.asAbove}
            data={draft.versions.map(({ name }) => name)}
            value={variant}
            onChange={setVariant}
            clearable
            clearButtonProps={{ 'aria-label': words.asAbove }}
            w={160}
          />
        )}
        <ActionButton
          needs="campaigns:send"
          variant="default"
          loading={write.isPending}
          disabled={to === ''}
          onClick={() => void send()}
        >
          {words.sendTest}
        </ActionButton>
      </Group>
    </Paper>
  );
}
