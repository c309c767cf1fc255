import { Box, Button, FileButton, Group, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconPhotoPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { text } from '../../text/text.ts';
import { useWhyNot } from '../action-button.tsx';
import { Loading } from '../loading.tsx';
import type { CodeEditorHandle } from './code-editor.tsx';
import { PreviewPane } from './preview-pane.tsx';
import { usePictureUpload } from './use-picture-upload.ts';
import { type EditedMail, usePreview } from './use-preview.ts';
import { VariableMenu } from './variable-menu.tsx';
import { variablesOf } from './variables.ts';

const CodeEditor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor: Editor }) => ({ default: Editor })));
const VisualEditor = lazy(() =>
  import('./visual/visual-editor.tsx').then(({ VisualEditor: Editor }) => ({ default: Editor })),
);

const HEIGHT = 620;
/** The editor fills the window below the header and the envelope of a full-screen editor. */
const CANVAS_HEIGHT = 'max(420px, calc(100dvh - 306px))';
const CANVAS_WIDTH = 640;
type Mode = 'code' | 'visual';

/**
 * Edits an email's body as code or visually, beside its preview. Both editors change the same text and leave parts
 * that they do not understand unchanged. Templates and campaigns use it. On the canvas of a full-screen editor, the
 * visual editor comes first and has the width of an email, without the preview.
 */
export function MailEditor({
  mail,
  onBody,
  onSave,
  isReadOnly = false,
  isCanvas = false,
}: {
  mail: EditedMail;
  onBody: (body: string) => void;
  /** Called for the save shortcut, wherever the cursor is. */
  onSave?: () => void;
  isReadOnly?: boolean;
  isCanvas?: boolean;
}) {
  const { can } = useSession();
  const [mode, setMode] = useState<Mode>(isCanvas ? 'visual' : 'code');
  const [contactId, setContactId] = useState<string | null>(null);
  const isAlone = isCanvas && mode === 'visual';
  const preview = usePreview(mail, contactId, !isAlone);
  const fields = useQuery({ ...queryFor('listContactFields'), enabled: can('contacts:view'), staleTime: 60_000 });
  const variables = useMemo(() => variablesOf(fields.data?.fields ?? []), [fields.data]);
  const editor = useRef<CodeEditorHandle>(null);
  const pictures = usePictureUpload();
  const insert = (said: string) => editor.current?.insert(said);
  const mayUpload = useWhyNot('templates:edit') === undefined && !isReadOnly;
  const height = isCanvas ? CANVAS_HEIGHT : HEIGHT;
  return (
    <SimpleGrid cols={isAlone ? 1 : { base: 1, md: 2 }} spacing="md" verticalSpacing="md">
      <Stack gap="xs" miw={0} {...(isAlone && { maw: CANVAS_WIDTH, w: '100%', mx: 'auto' })}>
        <Group justify="space-between" gap="xs">
          <SegmentedControl
            size="xs"
            value={mode}
            onChange={(value) => setMode(value as Mode)}
            aria-label={text.mailEditor.modes}
            data={[
              { value: 'code', label: text.mailEditor.codeTab },
              { value: 'visual', label: text.mailEditor.visualTab },
            ]}
          />
          <Group gap="xs">
            <VariableMenu variables={variables} onPick={(name) => insert(`{{${name}}}`)} disabled={isReadOnly} />
            <FileButton
              accept="image/png,image/jpeg,image/gif,image/webp"
              onChange={(file) => file && pictures.upload([file], (tag) => insert(`${tag}\n`))}
              disabled={!mayUpload}
            >
              {(props) => (
                <Button
                  {...props}
                  size="compact-sm"
                  variant="default"
                  leftSection={<IconPhotoPlus size={14} aria-hidden />}
                  loading={pictures.isUploading}
                  disabled={!mayUpload}
                >
                  {text.mailEditor.addPicture}
                </Button>
              )}
            </FileButton>
          </Group>
        </Group>
        <Box h={height}>
          <Suspense fallback={<Loading height={HEIGHT} />}>
            {mode === 'code' ? (
              <CodeEditor
                ref={editor}
                value={mail.body}
                onChange={onBody}
                onPictures={pictures.upload}
                fault={preview.fault}
                variables={variables}
                isReadOnly={isReadOnly}
              />
            ) : (
              <VisualEditor
                ref={editor}
                value={mail.body}
                onChange={onBody}
                onPictures={pictures.upload}
                onSave={() => onSave?.()}
                isReadOnly={isReadOnly}
              />
            )}
          </Suspense>
        </Box>
        <Text size="xs" c="dimmed">
          {mode === 'code' ? text.mailEditor.dropHint : text.mailEditor.visualHint}
        </Text>
      </Stack>
      {!isAlone && (
        <Box miw={0}>
          {mail.body === '' ? (
            <Text c="dimmed">{text.mailEditor.empty}</Text>
          ) : (
            <PreviewPane preview={preview} contactId={contactId} onContact={setContactId} />
          )}
        </Box>
      )}
    </SimpleGrid>
  );
}
