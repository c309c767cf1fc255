import { Box, Button, FileButton, Group, Paper, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { IconLayoutSidebarRight, IconPhotoPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { lazy, type ReactNode, Suspense, useMemo, useRef, useState } from 'react';
import { queryFor } from '../../api/queries.ts';
import { useSession } from '../../app/session.ts';
import { text } from '../../text/text.ts';
import { useMissingPermissionText } from '../action-button.tsx';
import { EditorPanel } from '../editor-frame.tsx';
import { Placeholder } from '../loading.tsx';
import { useIsPhone } from '../use-is-phone.ts';
import type { CodeEditorHandle } from './code-editor.tsx';
import classes from './email-editor.module.css';
import { IMAGE_BLOCKS, type ImageBlock } from './new-blocks.ts';
import { BlockMenu, Palette } from './palette.tsx';
import { CANVAS } from './pending-email-editor.tsx';
import { PreviewPane } from './preview-pane.tsx';
import { useImageUpload } from './use-image-upload.ts';
import { type EditedEmail, usePreview } from './use-preview.ts';
import { VariableMenu } from './variable-menu.tsx';
import { listVariables } from './variables.ts';

const words = text.emailEditor;
const CodeEditor = lazy(() => import('./code-editor.tsx').then(({ CodeEditor: Editor }) => ({ default: Editor })));
const VisualEditor = lazy(() =>
  import('./visual/visual-editor.tsx').then(({ VisualEditor: Editor }) => ({ default: Editor })),
);

/** The code fills the window below the header and the envelope. */
const CODE_HEIGHT = 'max(420px, calc(100dvh - 306px))';
/** Windows with room for code, preview and details, and phones, which show them one below the other. */
const ROOM_FOR_DETAILS = '(min-width: 100em) or (max-width: 48em)';
type Mode = 'code' | 'visual';

interface EmailEditorProps {
  email: EditedEmail;
  /** Identifies the content. When it changes, the visual editor opens. */
  contentKey?: string;
  /** @param isOwnStep whether the change is undone alone, and not with the changes just before and after it */
  onBody: (body: string, isOwnStep?: boolean) => void;
  /** Called for the save shortcut, wherever the cursor is. */
  onSave: () => void;
  isReadOnly?: boolean;
  /**
   * The groups of the panel beside the canvas. In the code view, the code and its preview hide the panel, unless the
   * window fits all three or the user opens the panel.
   */
  details: ReactNode;
  children: ReactNode;
}

/**
 * Edits an email in a full-screen editor: blocks to add, the envelope (`children`), and the body. The user edits the
 * body visually at the width of an email, or as code beside its preview. Both editors change the same text, and leave
 * parts that they do not understand unchanged. Templates and campaigns use this component.
 */
export function EmailEditor({
  email,
  contentKey = '',
  onBody,
  onSave,
  isReadOnly = false,
  details,
  children,
}: EmailEditorProps) {
  const [modeOf, setMode] = useState<{ key: string; mode: Mode }>();
  const mode = modeOf?.key === contentKey ? modeOf.mode : 'visual';
  const [slot, setSlot] = useState<HTMLDivElement | null>(null);
  const [tools, setTools] = useState<HTMLDivElement | null>(null);
  const [contactId, setContactId] = useState<string | null>(null);
  const isVisual = mode === 'visual';
  const isPhone = useIsPhone();
  const hasRoom = useMediaQuery(ROOM_FOR_DETAILS, true, { getInitialValueInEffect: false });
  const [isAsked, { toggle }] = useDisclosure();
  const showsDetails = isVisual || hasRoom || isAsked;
  const preview = usePreview(email, contactId, !isVisual);
  const variables = useVariables();
  const editor = useRef<CodeEditorHandle>(null);
  const images = useImageUpload();
  const insert = (insertion: string) => editor.current?.insert(insertion);
  const mayUpload = useMissingPermissionText('templates:edit') === undefined && !isReadOnly;
  const adding = {
    onBlock: (html: string) => editor.current?.insertBlock(html),
    onImage: (file: File, block: ImageBlock) =>
      images.upload([file], (tag) => editor.current?.insertBlock(IMAGE_BLOCKS[block](tag))),
    mayUpload,
  };
  return (
    <>
      {isVisual && !isReadOnly && <Palette {...adding} />}
      <section className={classes.desk} data-mode={mode} aria-label={words.content}>
        {children}
        <SimpleGrid cols={isVisual ? 1 : { base: 1, md: 2 }} spacing="md" verticalSpacing="md">
          <Stack gap="xs" miw={0} {...(isVisual && { maw: CANVAS.width, w: '100%', mx: 'auto' })}>
            <Group justify="space-between" gap="xs" className={classes.tools}>
              <ModeControl mode={mode} onChange={(next) => setMode({ key: contentKey, mode: next })} />
              <div ref={setTools} className={classes.selection} />
              <Group gap="xs">
                {isVisual && !isReadOnly && <BlockMenu {...adding} />}
                <VariableMenu variables={variables} onPick={(name) => insert(`{{${name}}}`)} disabled={isReadOnly} />
                {!isVisual && (
                  <ImageButton images={images} onImage={(tag) => insert(`${tag}\n`)} disabled={!mayUpload} />
                )}
                {!isVisual && !hasRoom && <DetailsButton isExpanded={isAsked} onClick={toggle} />}
              </Group>
            </Group>
            <Suspense
              fallback={
                <Placeholder>
                  <Paper withBorder h={CANVAS.height} />
                </Placeholder>
              }
            >
              {isVisual ? (
                <VisualEditor
                  key={contentKey}
                  ref={editor}
                  value={email.body}
                  onChange={onBody}
                  onImages={images.upload}
                  panel={slot}
                  toolbar={tools}
                  onSave={onSave}
                  isReadOnly={isReadOnly}
                />
              ) : (
                <Box h={CODE_HEIGHT}>
                  <CodeEditor
                    key={contentKey}
                    ref={editor}
                    value={email.body}
                    onChange={onBody}
                    onImages={images.upload}
                    fault={preview.fault}
                    variables={variables}
                    isReadOnly={isReadOnly}
                  />
                </Box>
              )}
            </Suspense>
            <Text size="xs" c="dimmed">
              {isPhone ? words.phoneHints[mode] : isVisual ? words.visualHint : words.dropHint}
            </Text>
          </Stack>
          {!isVisual && (
            <Box miw={0}>
              {email.body === '' && <Text c="dimmed">{words.empty}</Text>}
              {email.body !== '' && <PreviewPane preview={preview} contactId={contactId} onContact={setContactId} />}
            </Box>
          )}
        </SimpleGrid>
      </section>
      {showsDetails && (
        <EditorPanel label={words.details}>
          <div ref={setSlot} className={classes.slot} />
          <div>{details}</div>
        </EditorPanel>
      )}
    </>
  );
}

/** Returns the variables that an email may use: the contact's fields, and the service's variables. */
function useVariables() {
  const { can } = useSession();
  const fields = useQuery({ ...queryFor('listContactFields'), enabled: can('contacts:view'), staleTime: 60_000 });
  return useMemo(() => listVariables(fields.data?.fields ?? []), [fields.data]);
}

function ModeControl({ mode, onChange }: { mode: Mode; onChange: (mode: Mode) => void }) {
  return (
    <SegmentedControl
      size="xs"
      value={mode}
      onChange={(value) => onChange(value as Mode)}
      aria-label={words.modes}
      data={[
        { value: 'visual', label: words.visualTab },
        { value: 'code', label: words.codeTab },
      ]}
    />
  );
}

/** Uploads an image, and calls `onImage` with its tag. */
function ImageButton({
  images,
  onImage,
  disabled,
}: {
  images: ReturnType<typeof useImageUpload>;
  onImage: (tag: string) => void;
  disabled: boolean;
}) {
  return (
    <FileButton
      accept="image/png,image/jpeg,image/gif,image/webp"
      onChange={(file) => file && images.upload([file], onImage)}
      disabled={disabled}
    >
      {(props) => (
        <Button
          {...props}
          size="compact-sm"
          variant="default"
          leftSection={<IconPhotoPlus size={14} aria-hidden />}
          loading={images.isUploading}
          disabled={disabled}
        >
          {words.addImage}
        </Button>
      )}
    </FileButton>
  );
}

function DetailsButton({ isExpanded, onClick }: { isExpanded: boolean; onClick: () => void }) {
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<IconLayoutSidebarRight size={14} aria-hidden />}
      aria-expanded={isExpanded}
      onClick={onClick}
    >
      {words.details}
    </Button>
  );
}
