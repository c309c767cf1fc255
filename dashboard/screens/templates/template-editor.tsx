import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { ActionButton, useWhyNot } from '../../parts/action-button.tsx';
import { Failed } from '../../parts/failed.tsx';
import { Instant } from '../../parts/instant.tsx';
import { MailEditor } from '../../parts/mail-editor/mail-editor.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Conflict } from '../../parts/record-edit/conflict.tsx';
import { text } from '../../text/text.ts';
import { SendTest } from './send-test.tsx';
import type { Template } from './template-fields.ts';
import { TemplateSettings } from './template-settings.tsx';
import { TemplateUsage } from './template-usage.tsx';
import { useTemplateEdit } from './use-template-edit.ts';

/** The editor of a template: content with a preview, sender, usage. */
export function TemplateEditor({ saved }: { saved: Template }) {
  const edit = useTemplateEdit(saved);
  const { fields, change, isTouched, hasConflict } = edit;
  const [isTesting, testing] = useDisclosure();
  const isReadOnly = useWhyNot('templates:edit') !== undefined;
  const save = () => {
    if (isTouched && !isReadOnly) edit.save();
  };
  // The shortcut also works while the cursor is in a field or in the code.
  useHotkeys([['mod+S', save]], [], true);
  return (
    <>
      <PageHead
        title={saved.name}
        subtitle={<State edit={edit} updatedAt={saved.updatedAt} />}
        back={{ to: '/templates', label: text.templates.all }}
        actions={
          <>
            <ActionButton
              variant="default"
              needs="email:send"
              onClick={testing.open}
              whyNot={fields.from.trim() === '' ? text.templates.testNoFrom : undefined}
            >
              {text.templates.test}
            </ActionButton>
            <ActionButton
              needs="templates:edit"
              onClick={edit.save}
              loading={edit.isSaving}
              whyNot={
                hasConflict ? text.parts.conflict.settleFirst : isTouched ? undefined : text.templates.nothingToSave
              }
            >
              {text.templates.save}
            </ActionButton>
          </>
        }
      />
      <Stack gap="md">
        <Notices edit={edit} />
        <Group align="flex-start" grow preventGrowOverflow={false} gap="md">
          <TextInput
            label={text.templates.subject}
            description={text.templates.subjectHint}
            value={fields.subject}
            onChange={(event) => change({ subject: event.currentTarget.value })}
            readOnly={isReadOnly}
            miw={240}
          />
          <TextInput
            label={text.templates.preheader}
            description={text.templates.preheaderHint}
            value={fields.preheader}
            onChange={(event) => change({ preheader: event.currentTarget.value })}
            readOnly={isReadOnly}
            miw={240}
          />
        </Group>
        <TemplateSettings fields={fields} change={change} isReadOnly={isReadOnly} />
        <MailEditor
          mail={{ subject: fields.subject, preheader: fields.preheader, body: fields.body, type: fields.type }}
          onBody={(body) => change({ body })}
          onSave={save}
          isReadOnly={isReadOnly}
        />
        <TemplateUsage id={saved.id} />
      </Stack>
      <SendTest fields={fields} opened={isTesting} onClose={testing.close} />
    </>
  );
}

type Edit = ReturnType<typeof useTemplateEdit>;

function State({ edit: { isTouched, isKept }, updatedAt }: { edit: Edit; updatedAt: string }) {
  if (isTouched) {
    return (
      <Text span size="sm" c={isKept ? undefined : 'red'} role="status">
        {isKept ? text.templates.draftKept : text.templates.draftLost}
      </Text>
    );
  }
  return (
    <>
      {text.templates.changed} <Instant at={updatedAt} />
    </>
  );
}

function Notices({ edit }: { edit: Edit }) {
  const { isRestored, restoredAt, hasConflict, error, discard } = edit;
  return (
    <>
      {error && <Failed error={error} />}
      <Conflict edit={edit} labels={text.templates.fieldNames} show={(_name, value) => value} />
      {isRestored && !hasConflict && (
        <Alert color="yellow" title={text.templates.draftFound}>
          <Group gap="xs">
            <Text size="sm">
              {text.templates.draftFoundWhy}{' '}
              {restoredAt !== undefined && <Instant at={new Date(restoredAt).toISOString()} />}
            </Text>
            <Button size="compact-sm" variant="default" onClick={discard}>
              {text.templates.discard}
            </Button>
          </Group>
        </Alert>
      )}
    </>
  );
}
