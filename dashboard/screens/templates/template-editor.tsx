import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { IconEye, IconSend } from '@tabler/icons-react';
import { ActionButton, useMissingPermissionText } from '../../parts/action-button.tsx';
import { EditorFrame, PanelGroup } from '../../parts/editor-frame.tsx';
import { EmailEditor } from '../../parts/email-editor/email-editor.tsx';
import { Envelope } from '../../parts/email-editor/envelope.tsx';
import { PreviewDialog } from '../../parts/email-editor/preview-dialog.tsx';
import { Failed } from '../../parts/failed.tsx';
import { Instant } from '../../parts/instant.tsx';
import { Conflict } from '../../parts/record-edit/conflict.tsx';
import { useUndo } from '../../parts/record-edit/use-undo.ts';
import { createUndoTools, useUndoHotkeys } from '../../parts/undo-redo.ts';
import { useIsPhone } from '../../parts/use-is-phone.ts';
import { useVerifiedDomains } from '../../parts/use-verified-domains.ts';
import { text } from '../../text/text.ts';
import { SendTest } from './send-test.tsx';
import type { Template } from './template-fields.ts';
import { TemplateSettings } from './template-settings.tsx';
import { TemplateUsage } from './template-usage.tsx';
import { useTemplateEdit } from './use-template-edit.ts';

export const BACK_TO_TEMPLATES = { to: '/templates', label: text.templates.title };

/** The full-screen editor of a template: blocks, content, and its settings and use beside it. */
export function TemplateEditor({ saved }: { saved: Template }) {
  const edit = useTemplateEdit(saved);
  const { fields, isTouched, hasConflict } = edit;
  const isReadOnly = useMissingPermissionText('templates:edit') !== undefined;
  const history = useUndo(fields, edit.change);
  const { change } = history;
  const senders = (useVerifiedDomains() ?? []).map((domain) => `hello@${domain}`);
  const [isTestOpen, testDialog] = useDisclosure();
  const [isPreviewOpen, previewDialog] = useDisclosure();
  const email = { subject: fields.subject, preheader: fields.preheader, body: fields.body, type: fields.type };
  const save = () => {
    if (isTouched && !isReadOnly) edit.save();
  };
  // The shortcut also works while the cursor is in a field or in the code.
  useHotkeys([['mod+S', save]], [], true);
  useUndoHotkeys(history);
  return (
    <EditorFrame
      back={BACK_TO_TEMPLATES}
      title={saved.name}
      state={<State edit={edit} updatedAt={saved.updatedAt} />}
      notices={<Notices edit={edit} />}
      tools={[
        ...(isReadOnly ? [] : createUndoTools(history)),
        { label: text.emailEditor.preview, icon: IconEye, onClick: previewDialog.open },
        {
          label: text.templates.test,
          icon: IconSend,
          needs: 'email:send',
          whyNot: fields.from.trim() === '' ? text.templates.testNoFrom : undefined,
          onClick: testDialog.open,
        },
      ]}
      primary={
        <ActionButton
          needs="templates:edit"
          onClick={edit.save}
          loading={edit.isSaving}
          whyNot={hasConflict ? text.parts.conflict.chooseFirst : isTouched ? undefined : text.templates.nothingToSave}
        >
          {text.templates.save}
        </ActionButton>
      }
    >
      <EmailEditor
        email={email}
        onBody={(body, isOwnStep) => change({ body }, isOwnStep)}
        onSave={save}
        isReadOnly={isReadOnly}
        details={
          <>
            <PanelGroup>
              <TemplateSettings fields={fields} change={change} isReadOnly={isReadOnly} />
            </PanelGroup>
            <PanelGroup>
              <TemplateUsage id={saved.id} />
            </PanelGroup>
          </>
        }
      >
        <Envelope
          fields={fields}
          senders={senders}
          subjectHint={text.templates.subjectHint}
          change={change}
          isReadOnly={isReadOnly}
        />
      </EmailEditor>
      <SendTest fields={fields} opened={isTestOpen} onClose={testDialog.close} />
      {isPreviewOpen && <PreviewDialog email={email} onClose={previewDialog.close} />}
    </EditorFrame>
  );
}

type Edit = ReturnType<typeof useTemplateEdit>;

function State({ edit: { isTouched, isStored }, updatedAt }: { edit: Edit; updatedAt: string }) {
  const isPhone = useIsPhone();
  if (isTouched) {
    return (
      <Text span inherit c={isStored ? undefined : 'red'} role="status">
        {isStored ? (isPhone ? text.parts.unsaved : text.templates.draftKept) : text.templates.draftLost}
      </Text>
    );
  }
  return (
    <span>
      {text.templates.changed} <Instant at={updatedAt} />
    </span>
  );
}

function Notices({ edit }: { edit: Edit }) {
  const { isRestored, restoredAt, hasConflict, error, discard } = edit;
  if (!error && !hasConflict && !isRestored) return null;
  return (
    <Stack gap="xs">
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
    </Stack>
  );
}
