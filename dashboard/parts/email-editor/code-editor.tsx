import type { EditorView } from '@codemirror/view';
import { Box } from '@mantine/core';
import { forwardRef, useEffect, useImperativeHandle, useRef } from 'react';
import { text } from '../../text/text.ts';
import { type CodeEvents, mountCodeEditor, replaceText, showFault, showVariables } from './code-view.ts';
import type { EmailFault } from './use-preview.ts';
import type { Variable } from './variables.ts';

export interface CodeEditorHandle {
  /** Inserts a text at the cursor. */
  insert(insertion: string): void;
  /** Inserts a block of HTML: the code editor at the cursor, the visual editor after the block at the cursor. */
  insertBlock(html: string): void;
}

/**
 * An editor for HTML and Liquid source. Its code is loaded when an editor is first shown, because the code is large.
 */
export const CodeEditor = forwardRef<
  CodeEditorHandle,
  CodeEvents & { value: string; fault: EmailFault | undefined; variables: Variable[]; isReadOnly: boolean }
>(function CodeEditor({ value, fault, variables, isReadOnly, onChange, onImages }, handle) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const events = useRef<CodeEvents>({ onChange, onImages });
  useEffect(() => {
    events.current = { onChange, onImages };
  }, [onChange, onImages]);

  // Only a change of `isReadOnly` creates a new editor. The effects above and below pass on other changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the initial value is needed to open the editor
  useEffect(() => {
    if (!container.current) return;
    const opened = mountCodeEditor(container.current, {
      value,
      isReadOnly,
      label: text.emailEditor.code,
      onChange: (body) => events.current.onChange(body),
      onImages: (files, at) => events.current.onImages(files, at),
    });
    view.current = opened;
    return () => {
      view.current = null;
      opened.destroy();
    };
  }, [isReadOnly]);

  useEffect(() => {
    if (view.current) replaceText(view.current, value);
  }, [value]);
  useEffect(() => {
    if (view.current) showFault(view.current, fault?.field === 'body' ? fault : undefined);
  }, [fault]);
  useEffect(() => {
    if (view.current) showVariables(view.current, variables);
  }, [variables]);
  useImperativeHandle(handle, () => {
    const insert = (insertion: string) => {
      const opened = view.current;
      if (!opened) return;
      opened.dispatch(opened.state.replaceSelection(insertion));
      opened.focus();
    };
    return { insert, insertBlock: (html) => insert(`${html}\n`) };
  });

  return (
    <Box
      ref={container}
      h="100%"
      style={{
        overflow: 'hidden',
        border: '1px solid var(--mantine-color-default-border)',
        borderRadius: 'var(--mantine-radius-md)',
      }}
    />
  );
});
