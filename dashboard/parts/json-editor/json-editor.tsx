import type { EditorView } from '@codemirror/view';
import { Box, Input } from '@mantine/core';
import { useEffect, useId, useRef } from 'react';
import type { Variable } from '../email-editor/variables.ts';
import { mountJsonEditor, replaceJson } from './json-view.ts';

/**
 * A JSON editor that marks errors at their position. Its code is loaded when an editor is first shown, because the code
 * editor is large.
 */
export function JsonEditor({
  label,
  description,
  value,
  onChange,
  error,
  variables = NONE,
  disabled = false,
}: {
  label: string;
  description?: string | undefined;
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
  variables?: readonly Variable[];
  disabled?: boolean;
}) {
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef({ onChange, variables });
  const id = useId();
  useEffect(() => {
    latest.current = { onChange, variables };
  }, [onChange, variables]);

  // Only a change of `disabled` or `label` creates a new editor. The effects above and below pass on other changes.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the initial value is needed to open the editor
  useEffect(() => {
    if (!container.current) return;
    const opened = mountJsonEditor(container.current, {
      value,
      label,
      isReadOnly: disabled,
      variables: () => latest.current.variables,
      onChange: (typed) => latest.current.onChange(typed),
    });
    view.current = opened;
    return () => {
      view.current = null;
      opened.destroy();
    };
  }, [disabled, label]);
  useEffect(() => {
    if (view.current) replaceJson(view.current, value);
  }, [value]);

  return (
    <Input.Wrapper label={label} description={description} error={error} labelElement="div" id={id}>
      <Box
        ref={container}
        mt={4}
        style={{
          overflow: 'auto',
          maxHeight: 280,
          border: `1px solid var(${error ? '--mantine-color-error' : '--mantine-color-default-border'})`,
          borderRadius: 'var(--mantine-radius-md)',
        }}
      />
    </Input.Wrapper>
  );
}

const NONE: readonly Variable[] = [];
