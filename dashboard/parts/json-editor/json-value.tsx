import { lazy, Suspense, useState } from 'react';
import { text } from '../../text/text.ts';
import type { Variable } from '../email-editor/variables.ts';
import { PendingLines } from '../pending-lines.tsx';
import { readJson } from './json-fault.ts';

const JsonEditor = lazy(async () => ({ default: (await import('./json-editor.tsx')).JsonEditor }));

/**
 * An input for a value as JSON. Invalid JSON shows its error and does not change the value; an empty text means
 * undefined.
 */
export function JsonValue({
  value,
  onChange,
  onFault,
  needsObject = false,
  error,
  ...shown
}: {
  label: string;
  description?: string;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Called if the typed text is not valid JSON, or not an object although the value must be one. */
  onFault?: () => void;
  /** Whether the value must be an object. */
  needsObject?: boolean;
  error?: string | undefined;
  variables?: readonly Variable[];
  disabled?: boolean;
}) {
  const [draft, setDraft] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)));
  const fault = findJsonFault(draft, needsObject);
  return (
    <Suspense fallback={<PendingLines height={96} />}>
      <JsonEditor
        {...shown}
        value={draft}
        error={fault ?? error}
        onChange={(typed) => {
          setDraft(typed);
          const read = readJson(typed);
          if (findJsonFault(typed, needsObject) === undefined && 'value' in read) onChange(read.value);
          else onFault?.();
        }}
      />
    </Suspense>
  );
}

function findJsonFault(draft: string, needsObject: boolean): string | undefined {
  const read = readJson(draft);
  if ('fault' in read) return text.dataFields.badJson(read.fault.line, read.fault.column);
  const { value } = read;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return needsObject && value !== undefined && !isObject ? text.dataFields.noObject : undefined;
}
