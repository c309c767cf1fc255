import { Box, CloseButton, Stack } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { forwardRef, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { text } from '../../../text/text.ts';
import type { CodeEditorHandle } from '../code-editor.tsx';
import classes from '../email-editor.module.css';
import { BlockForm, DividerForm } from './block-form.tsx';
import { canStyle } from './block-styles.ts';
import { BlockTools } from './block-tools.tsx';
import { type FrameMessage, readFrameMessage } from './frame-message.ts';
import { endOfBody, type Insertion, insertionAt } from './insertion.ts';
import { PickedForm } from './picked-form.tsx';
import { blocksAround, blocksOf, removeTag } from './source-blocks.ts';
import { applyEdit, attributeEdit, type SourceEdit, sourcePosition, wrapEdits } from './source-edits.ts';
import { modelOf, type SourceModel, withTypedText } from './source-model.ts';
import type { TagPart } from './source-parts.ts';
import { visualDocument } from './visual-document.ts';
import frameScript from './visual-frame.js?url&no-inline';
import { VisualTools } from './visual-tools.tsx';

/** The maximum number of edits that a user can undo. */
const STEPS_MOST = 100;
/**
 * Bounds of the frame's height. A short email keeps space to click on, and a very long one scrolls within the frame.
 */
const HEIGHT_PX = { least: 320, most: 30_000 };

interface Cursor {
  id: number;
  start: number;
  end: number;
}

interface Shown {
  model: SourceModel;
  /** The HTML of the frame. It is redrawn only if more than a text changed. */
  document: string;
}

/**
 * The visual editor, in which text, links, images and buttons are edited in place. Each edit replaces a range of the
 * source; the rest stays unchanged, byte for byte.
 */
export const VisualEditor = forwardRef<
  CodeEditorHandle,
  {
    value: string;
    onChange: (value: string) => void;
    onImages: (files: File[], insert: (tag: string) => void) => void;
    /** The element for the properties of the selection. A phone shows them in a sheet at the bottom. */
    panel: HTMLElement | null;
    /** The element for the tools of the selection. */
    toolbar: HTMLElement | null;
    onSave: () => void;
    isReadOnly: boolean;
  }
>(function VisualEditor({ value, onChange, onImages, panel, toolbar, onSave, isReadOnly }, handle) {
  const isWide = useMediaQuery('(min-width: 48.01em)', true, { getInitialValueInEffect: false });
  const frame = useRef<HTMLIFrameElement>(null);
  const draw = (source: string): Shown => {
    const model = modelOf(source);
    return { model, document: visualDocument(model, { script: scriptAddress(), isReadOnly }) };
  };
  const [shown, setShown] = useState(() => draw(value));
  const [height, setHeight] = useState(HEIGHT_PX.least);
  /** The position for the block after the one that was just added. Cleared when the user moves the cursor. */
  const next = useRef<Insertion | null>(null);
  /** The range of an added block. The frame selects its text after drawing it. */
  const added = useRef<{ start: number; end: number } | null>(null);
  /** The text of an added block that the frame selects automatically, which does not move the place of the next block. */
  const selected = useRef<number | null>(null);
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const [pickedId, setPicked] = useState<number | null>(null);
  const [depth, setDepth] = useState(0);
  const [isSheetAsked, sheet] = useDisclosure();
  const [past, setPast] = useState<string[]>([]);
  const { model } = shown;
  const found = pickedId === null ? undefined : model.parts[pickedId];
  const picked: TagPart | undefined = found && found.kind !== 'text' ? found : undefined;

  const standing = picked ?? (cursor === null ? undefined : model.parts[cursor.id]);
  const blocks = useMemo(() => blocksOf(model.source), [model.source]);
  const around = standing ? blocksAround(blocks, standing.start) : [];
  const tell = (message: object) => frame.current?.contentWindow?.postMessage(message, '*');
  const outline = (chosen: number) => {
    setDepth(chosen);
    tell({ kind: 'outline', depth: chosen });
  };

  const redraw = (source: string) => {
    setShown(draw(source));
    setCursor(null);
    next.current = null;
    added.current = null;
    selected.current = null;
  };
  const remember = () => setPast((all) => [...all.slice(-STEPS_MOST), model.source]);
  const change = (edits: SourceEdit[]) => {
    remember();
    const source = edits.reduce(applyEdit, model.source);
    redraw(source);
    onChange(source);
    return source;
  };
  /** Changes styles and attributes. The parts keep their numbers, so the selection stays. */
  const restyle = (edits: SourceEdit[]) => {
    remember();
    const source = edits.reduce(applyEdit, model.source);
    setShown(draw(source));
    onChange(source);
  };
  const type = (id: number, said: string) => {
    const typed = withTypedText(model, id, said);
    if (typed === model) return;
    if (past.at(-1) !== model.source) remember();
    next.current = null;
    // The frame shows the typed text already. Redrawing it would move the cursor away.
    setShown({ ...shown, model: typed });
    onChange(typed.source);
  };
  const undo = () => {
    const last = past.at(-1);
    if (last === undefined) return;
    setPast(past.slice(0, -1));
    redraw(last);
    setPicked(null);
    onChange(last);
  };
  const wrap = (before: string, after: string) => {
    const part = cursor === null ? undefined : model.parts[cursor.id];
    if (part?.kind !== 'text' || !cursor || cursor.start === cursor.end) return;
    const edits = wrapEdits(part, cursor.start, cursor.end, before, after);
    const at = edits.at(-1)?.start;
    // The edit renumbered the parts. The form opens for the new link, because the user enters its URL next.
    const link = modelOf(change(edits)).parts.find(({ kind, start }) => kind === 'link' && start === at);
    setPicked(link?.id ?? null);
  };
  const insertMarkup = (tag: string) => {
    const part = cursor === null ? undefined : model.parts[cursor.id];
    const at = part?.kind === 'text' && cursor ? sourcePosition(part, cursor.start) : endOfBody(model.source);
    change([{ start: at, end: at, said: tag }]);
    setPicked(null);
  };
  const insertBlock = (html: string) => {
    const place = next.current ?? insertionAt(model, standing?.start);
    const said = place.before + html + place.after;
    change([{ start: place.at, end: place.at, said }]);
    setPicked(null);
    const end = place.at + said.length;
    next.current = { ...place, at: end };
    added.current = { start: place.at, end };
  };
  const selectAdded = () => {
    const range = added.current;
    const part = range && model.parts.find(({ kind, start }) => kind === 'text' && start >= range.start);
    if (range && part && part.end <= range.end) {
      selected.current = part.id;
      tell({ kind: 'select', id: part.id });
    }
    added.current = null;
  };
  const replaceImage = (id: number, address: string) => {
    const part = model.parts[id];
    if (part?.kind === 'image') change([attributeEdit(part, 'src', address)]);
  };

  const hear = (message: FrameMessage) => {
    if (message.kind === 'height') {
      setHeight(Math.min(HEIGHT_PX.most, Math.max(HEIGHT_PX.least, message.px)));
    } else if (message.kind === 'ready') selectAdded();
    else if (message.kind === 'cursor') {
      if (message.id !== cursor?.id) setDepth(0);
      setCursor(message);
      if (message.id !== selected.current || message.start === message.end) next.current = null;
    } else if (message.kind === 'picked') setPicked(message.id);
    else if (isReadOnly) return;
    else if (message.kind === 'typed') type(message.id, message.said);
    else if (message.kind === 'files') onImages(message.files, (tag) => latest.current.insertMarkup(tag));
    else if (message.kind === 'key' && message.key === 's') onSave();
    else if (message.kind === 'key' && message.key === 'b') wrap('<strong>', '</strong>');
    else if (message.kind === 'key' && message.key === 'i') wrap('<em>', '</em>');
  };
  // An upload ends later, when the email may have changed. It needs the latest functions.
  const latest = useRef({ hear, insertMarkup, insertBlock, replaceImage });
  useEffect(() => {
    latest.current = { hear, insertMarkup, insertBlock, replaceImage };
  });
  useEffect(() => {
    const onMessage = (event: MessageEvent) => {
      if (event.source === null || event.source !== frame.current?.contentWindow) return;
      const message = readFrameMessage(event.data);
      if (message) latest.current.hear(message);
    };
    window.addEventListener('message', onMessage);
    return () => window.removeEventListener('message', onMessage);
  }, []);
  // The value changed outside the editor: another version was loaded.
  if (value !== model.source) redraw(value);

  useImperativeHandle(handle, () => ({
    insert(said) {
      if (/^\s*</.test(said)) insertMarkup(said.trim());
      else tell({ kind: 'insert', said });
    },
    // The latest source, because the email may have changed while an image was uploaded.
    insertBlock: (html) => latest.current.insertBlock(html),
  }));

  const unpick = () => setPicked(null);
  const styled = around.slice(depth);
  const style = { source: model.source, around: styled, isReadOnly, onEdit: restyle };
  const properties = (
    <>
      {picked && picked.kind !== 'divider' && (
        <PickedForm
          key={`${picked.kind} ${picked.id}`}
          source={model.source}
          picked={picked}
          isReadOnly={isReadOnly}
          onEdit={(edit) => change([edit])}
          onRemove={() => {
            change([removeTag(model.source, picked)]);
            unpick();
          }}
          onClose={isWide ? unpick : undefined}
          onImage={(file) => onImages([file], (tag) => latest.current.replaceImage(picked.id, addressIn(tag)))}
        />
      )}
      {picked?.kind === 'divider' ? <DividerForm {...style} tag={picked} /> : <BlockForm {...style} />}
    </>
  );
  const hasProperties = picked !== undefined || styled.some((block) => canStyle(model.source, block));
  const isSheetShown = !isWide && hasProperties && (isSheetAsked || picked !== undefined);
  const closeSheet = () => {
    sheet.close();
    unpick();
  };

  return (
    <Stack gap="xs">
      {toolbar &&
        createPortal(
          <>
            <VisualTools
              canWrap={!isReadOnly && cursor !== null && cursor.start < cursor.end}
              canUndo={past.length > 0}
              onWrap={wrap}
              onUndo={undo}
            />
            {!isReadOnly && (
              <BlockTools
                source={model.source}
                blocks={blocks}
                around={around}
                depth={Math.min(depth, around.length - 1)}
                properties={
                  !isWide && hasProperties
                    ? { isShown: isSheetShown, toggle: isSheetShown ? closeSheet : sheet.open }
                    : undefined
                }
                onDepth={outline}
                onEdit={(edit) => {
                  change([edit]);
                  setPicked(null);
                }}
              />
            )}
          </>,
          toolbar,
        )}
      {isWide && panel && createPortal(properties, panel)}
      {isSheetShown && (
        <section aria-label={text.emailEditor.blockProperties} className={classes.sheet}>
          <CloseButton aria-label={text.app.close} onClick={closeSheet} className={classes.sheetClose} />
          {properties}
        </section>
      )}
      <Box
        // Each document gets a new frame. In the same frame, a new document would add a step to the browser's history,
        // and Back would undo that step instead of leaving the editor.
        key={shown.document}
        ref={frame}
        component="iframe"
        title={text.emailEditor.visualFrame}
        // The content security policy permits only our own script. Without `allow-same-origin`, the frame cannot
        // access the page.
        sandbox="allow-scripts"
        srcDoc={shown.document}
        referrerPolicy="no-referrer"
        w="100%"
        h={height}
        style={{
          background: '#fff',
          colorScheme: 'light',
          border: '1px solid var(--mantine-color-default-border)',
          borderRadius: 'var(--mantine-radius-md)',
        }}
      />
    </Stack>
  );
});

function scriptAddress(): string {
  return new URL(frameScript, window.location.href).href;
}

/** Returns the source address of an image tag as plain text. */
function addressIn(tag: string): string {
  return (/src="([^"]*)"/.exec(tag)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
