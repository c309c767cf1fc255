import { Box, CloseButton, Stack } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { forwardRef, type RefObject, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { text } from '../../../text/text.ts';
import type { CodeEditorHandle } from '../code-editor.tsx';
import classes from '../email-editor.module.css';
import { BlockForm, DividerForm } from './block-form.tsx';
import { canStyle } from './block-styles.ts';
import { BlockTools } from './block-tools.tsx';
import { type FrameMessage, readFrameMessage } from './frame-message.ts';
import { findEndOfBody } from './insertion.ts';
import { PickedForm } from './picked-form.tsx';
import { type Block, findBlocks, findBlocksAround, removeTag } from './source-blocks.ts';
import { createAttributeEdit, createWrapEdits, getSourceOffset, type SourceEdit } from './source-edits.ts';
import { parseSource, type SourceModel } from './source-model.ts';
import type { TagPart } from './source-parts.ts';
import { type AddedBlock, useAddedBlock } from './use-added-block.ts';
import { useVisualSource, type VisualSource } from './use-visual-source.ts';
import { renderChips, renderVisualDocument } from './visual-document.ts';
import frameScript from './visual-frame.js?url&no-inline';
import { VisualTools } from './visual-tools.tsx';

/**
 * Bounds of the frame's height. A short email keeps space to click on, and a very long one scrolls within the frame.
 */
const HEIGHT_PX = { least: 320, most: 30_000 };

interface Cursor {
  id: number;
  start: number;
  end: number;
}

interface VisualEditorProps {
  value: string;
  /** @param isOwnStep whether the change is undone alone, and not with the changes just before and after it */
  onChange: (value: string, isOwnStep: boolean) => void;
  onImages: (files: File[], insert: (tag: string) => void) => void;
  /** The element for the properties of the selection. A phone shows them in a sheet at the bottom. */
  panel: HTMLElement | null;
  /** The element for the tools of the selection. */
  toolbar: HTMLElement | null;
  onSave: () => void;
  isReadOnly: boolean;
}

/**
 * The visual editor, in which text, links, images and buttons are edited in place. Each edit replaces a range of the
 * source; the rest stays unchanged, byte for byte.
 */
export const VisualEditor = forwardRef<CodeEditorHandle, VisualEditorProps>(function VisualEditor(
  { value, onChange, onImages, panel, toolbar, onSave, isReadOnly },
  handle,
) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(HEIGHT_PX.least);
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const [pickedId, setPicked] = useState<number | null>(null);
  const [depth, setDepth] = useState(0);
  const addedBlock = useAddedBlock();
  const source = useVisualSource({
    value,
    onChange,
    draw: (model) => renderVisualDocument(model, { script: getScriptUrl(), isReadOnly }),
    onRedraw: () => {
      setCursor(null);
      addedBlock.clear();
    },
  });
  const { model } = source;
  const picked = findTag(model, pickedId);
  const current = picked ?? (cursor === null ? undefined : model.parts[cursor.id]);
  const blocks = useMemo(() => findBlocks(model.source), [model.source]);
  const around = current ? findBlocksAround(blocks, current.start) : [];
  const edits = createCursorActions({ source, cursor, offset: current?.start, addedBlock, pick: setPicked });

  const post = (message: object) => frame.current?.contentWindow?.postMessage(message, '*');
  const outline = (chosen: number) => {
    setDepth(chosen);
    post({ kind: 'outline', depth: chosen });
  };
  const onMessage = (message: FrameMessage) => {
    if (message.kind === 'height') {
      setHeight(Math.min(HEIGHT_PX.most, Math.max(HEIGHT_PX.least, message.px)));
    } else if (message.kind === 'ready') {
      const id = addedBlock.takeSelection(model);
      if (id !== undefined) post({ kind: 'select', id });
    } else if (message.kind === 'cursor') {
      if (message.id !== cursor?.id) setDepth(0);
      setCursor(message);
      addedBlock.onCursor(message);
    } else if (message.kind === 'picked') setPicked(message.id);
    else if (message.kind === 'left') {
      const part = model.parts[message.id];
      if (part?.kind === 'text') post({ kind: 'chips', id: part.id, html: renderChips(part) });
    } else if (isReadOnly) return;
    else if (message.kind === 'typed') {
      if (source.type(message.id, message.text)) addedBlock.clearNext();
    } else if (message.kind === 'files') onImages(message.files, (tag) => latest.current.insertMarkup(tag));
    else if (message.kind === 'key' && message.key === 's') onSave();
    else if (message.kind === 'key' && message.key === 'b') edits.wrap('<strong>', '</strong>');
    else if (message.kind === 'key' && message.key === 'i') edits.wrap('<em>', '</em>');
  };
  // When an upload ends, the email may have changed. The upload therefore calls the latest functions through this ref.
  const latest = useRef(edits);
  useEffect(() => {
    latest.current = edits;
  });
  useFrameMessages(frame, onMessage);
  // The value changed outside the editor: by undo or redo, or another version was loaded.
  if (value !== model.source) {
    source.redraw(value);
    setPicked(null);
  }

  useImperativeHandle(handle, () => ({
    insert(insertion) {
      if (/^\s*</.test(insertion)) edits.insertMarkup(insertion.trim());
      else post({ kind: 'insert', text: insertion });
    },
    // Uses the latest source, because the email may have changed while an image was uploaded.
    insertBlock: (html) => latest.current.insertBlock(html),
  }));

  return (
    <Stack gap="xs">
      <SelectionTools
        source={source}
        edits={edits}
        selection={{ picked, blocks, around, depth }}
        canWrap={cursor !== null && cursor.start < cursor.end}
        isReadOnly={isReadOnly}
        panel={panel}
        toolbar={toolbar}
        onUnpick={() => setPicked(null)}
        onDepth={outline}
        onImage={(file, id) => onImages([file], (tag) => latest.current.replaceImage(id, readImageUrl(tag)))}
      />
      {/* Each document gets a new frame. In the same frame, a new document would add a step to the browser's history,
          and Back would undo that step instead of leaving the editor. */}
      <Frame key={source.document} frame={frame} document={source.document} height={height} />
    </Stack>
  );
});

interface SelectionToolsProps {
  source: VisualSource;
  edits: ReturnType<typeof createCursorActions>;
  selection: { picked: TagPart | undefined; blocks: Block[]; around: Block[]; depth: number };
  canWrap: boolean;
  isReadOnly: boolean;
  panel: HTMLElement | null;
  toolbar: HTMLElement | null;
  onUnpick: () => void;
  onDepth: (depth: number) => void;
  onImage: (file: File, id: number) => void;
}

/**
 * Shows the tools of the selection in the toolbar, and its properties in the panel or, on a phone, in a sheet. A phone
 * has space for one row of tools: for the selected text if there is one, otherwise for the block around the cursor.
 */
function SelectionTools(p: SelectionToolsProps) {
  const { source, edits, isReadOnly, panel, toolbar } = p;
  const { picked, blocks, around, depth } = p.selection;
  const html = source.model.source;
  const isWide = useMediaQuery('(min-width: 48.01em)', true, { getInitialValueInEffect: false });
  const styled = around.slice(depth);
  const hasProperties = picked !== undefined || styled.some((block) => canStyle(html, block));
  const sheet = usePropertySheet({
    isPossible: !isWide && hasProperties,
    isPicked: picked !== undefined,
    unpick: p.onUnpick,
  });
  const properties = (
    <Properties
      source={source}
      picked={picked}
      styled={styled}
      isReadOnly={isReadOnly}
      onUnpick={p.onUnpick}
      isClosable={isWide}
      onImage={p.onImage}
    />
  );
  const canWrap = !isReadOnly && p.canWrap;
  const hasBlockTools = !isReadOnly && around.length > 0 && (isWide || !canWrap);
  const tools = (
    <>
      {(isWide || !hasBlockTools) && <VisualTools canWrap={canWrap} onWrap={edits.wrap} />}
      {hasBlockTools && (
        <BlockTools
          source={html}
          blocks={blocks}
          around={around}
          depth={Math.min(depth, around.length - 1)}
          properties={sheet.toggle && { isShown: sheet.isShown, toggle: sheet.toggle }}
          onDepth={p.onDepth}
          onEdit={edits.replace}
        />
      )}
    </>
  );
  return (
    <>
      {toolbar && createPortal(tools, toolbar)}
      {isWide && panel && createPortal(properties, panel)}
      {sheet.isShown && (
        <section aria-label={text.emailEditor.blockProperties} className={classes.sheet}>
          <CloseButton
            size={40}
            iconSize={18}
            aria-label={text.app.close}
            onClick={sheet.close}
            className={classes.sheetClose}
          />
          {properties}
        </section>
      )}
    </>
  );
}

function Frame(p: { frame: RefObject<HTMLIFrameElement | null>; document: string; height: number }) {
  return (
    <Box
      ref={p.frame}
      component="iframe"
      title={text.emailEditor.visualFrame}
      // The content security policy permits only our own script. Without `allow-same-origin`, the frame cannot
      // access the page.
      sandbox="allow-scripts"
      srcDoc={p.document}
      referrerPolicy="no-referrer"
      w="100%"
      h={p.height}
      style={{
        background: '#fff',
        colorScheme: 'light',
        border: '1px solid var(--mantine-color-default-border)',
        borderRadius: 'var(--mantine-radius-md)',
      }}
    />
  );
}

/** The forms for the selected link or image, and for the block around the cursor. */
function Properties({
  source,
  picked,
  styled,
  isReadOnly,
  isClosable,
  onUnpick,
  onImage,
}: {
  source: VisualSource;
  picked: TagPart | undefined;
  styled: Block[];
  isReadOnly: boolean;
  isClosable: boolean;
  onUnpick: () => void;
  onImage: (file: File, id: number) => void;
}) {
  const html = source.model.source;
  const style = { source: html, around: styled, isReadOnly, onEdit: source.restyle };
  if (picked?.kind === 'divider') return <DividerForm {...style} tag={picked} />;
  return (
    <>
      {picked && (
        <PickedForm
          key={`${picked.kind} ${picked.id}`}
          source={html}
          picked={picked}
          isReadOnly={isReadOnly}
          onEdit={(edit) => source.change([edit])}
          onRemove={() => {
            source.change([removeTag(html, picked)]);
            onUnpick();
          }}
          onClose={isClosable ? onUnpick : undefined}
          onImage={(file) => onImage(file, picked.id)}
        />
      )}
      <BlockForm {...style} />
    </>
  );
}

/**
 * The sheet of a phone. The sheet opens when the user selects a link or an image, or presses the button for properties.
 */
function usePropertySheet(p: { isPossible: boolean; isPicked: boolean; unpick: () => void }) {
  const [isRequested, { open, close: dismiss }] = useDisclosure();
  const isShown = p.isPossible && (isRequested || p.isPicked);
  const close = () => {
    dismiss();
    p.unpick();
  };
  return { isShown, close, toggle: p.isPossible ? (isShown ? close : open) : undefined };
}

/** Calls the latest `onMessage` with each valid message of the frame. */
function useFrameMessages(frame: RefObject<HTMLIFrameElement | null>, onMessage: (message: FrameMessage) => void) {
  const listener = useRef(onMessage);
  useEffect(() => {
    listener.current = onMessage;
  });
  useEffect(() => {
    const onEvent = (event: MessageEvent) => {
      if (event.source === null || event.source !== frame.current?.contentWindow) return;
      const message = readFrameMessage(event.data);
      if (message) listener.current(message);
    };
    window.addEventListener('message', onEvent);
    return () => window.removeEventListener('message', onEvent);
  }, [frame]);
}

/** Returns functions that insert or change markup at the cursor or in the selected part. */
function createCursorActions(p: {
  source: VisualSource;
  cursor: Cursor | null;
  /** The offset of the selected part. */
  offset: number | undefined;
  addedBlock: AddedBlock;
  pick: (id: number | null) => void;
}) {
  const { source, cursor, addedBlock, pick } = p;
  const { model } = source;
  const part = cursor === null ? undefined : model.parts[cursor.id];
  return {
    /** Puts tags around the selected text. */
    wrap: (before: string, after: string) => {
      if (part?.kind !== 'text' || !cursor || cursor.start === cursor.end) return;
      const edits = createWrapEdits(part, cursor.start, cursor.end, before, after);
      const at = edits.at(-1)?.start;
      // The edit renumbered the parts. The form opens for the new link, because the user enters its URL next.
      const link = parseSource(source.change(edits)).parts.find(({ kind, start }) => kind === 'link' && start === at);
      pick(link?.id ?? null);
    },
    /** Inserts markup at the cursor, or at the end of the body if no text has the cursor. */
    insertMarkup: (markup: string) => {
      const at = part?.kind === 'text' && cursor ? getSourceOffset(part, cursor.start) : findEndOfBody(model.source);
      source.change([{ start: at, end: at, replacement: markup }]);
      pick(null);
    },
    insertBlock: (html: string) => {
      const position = addedBlock.getNextPosition(model, p.offset);
      const markup = position.before + html + position.after;
      source.change([{ start: position.at, end: position.at, replacement: markup }]);
      pick(null);
      addedBlock.remember(position, markup);
    },
    /** Applies an edit of a tool and clears the selection. */
    replace: (edit: SourceEdit) => {
      source.change([edit]);
      pick(null);
    },
    replaceImage: (id: number, address: string) => {
      const image = model.parts[id];
      if (image?.kind === 'image') source.change([createAttributeEdit(image, 'src', address)]);
    },
  };
}

function findTag({ parts }: SourceModel, id: number | null): TagPart | undefined {
  const part = id === null ? undefined : parts[id];
  return part && part.kind !== 'text' ? part : undefined;
}

function getScriptUrl(): string {
  return new URL(frameScript, window.location.href).href;
}

/** Returns the source address of an image tag as plain text. */
function readImageUrl(tag: string): string {
  return (/src="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
