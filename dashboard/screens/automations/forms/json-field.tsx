import { JsonInput } from '@mantine/core';
import { useState } from 'react';
import { text } from '../../../text/text.ts';

const t = text.automations;

/** JSON that a person writes. What cannot be read yet is shown as a fault and goes nowhere; empty is undefined. */
export function JsonField({
  label,
  description,
  value,
  onChange,
  error,
  disabled,
  kind = 'object',
}: {
  label: string;
  description?: string;
  value: unknown;
  onChange: (value: unknown) => void;
  error?: string | undefined;
  disabled?: boolean;
  kind?: 'object' | 'array' | 'any';
}) {
  const [draft, setDraft] = useState(() => shown(value));
  const bad = read(draft, kind) === BAD;
  return (
    <JsonInput
      label={label}
      description={description}
      value={draft}
      autosize
      minRows={2}
      maxRows={10}
      disabled={disabled === true}
      error={bad ? t.badJson : error}
      onChange={(next) => {
        setDraft(next);
        const parsed = read(next, kind);
        if (parsed !== BAD) onChange(parsed);
      }}
      styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 12 } }}
    />
  );
}

const BAD = Symbol('no JSON');

function shown(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value, null, 2);
}

function read(draft: string, kind: 'object' | 'array' | 'any'): unknown {
  if (draft.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(draft);
    if (kind === 'array') return Array.isArray(value) ? value : BAD;
    if (kind === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : BAD;
    return value;
  } catch {
    return BAD;
  }
}
