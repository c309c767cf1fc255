import { Alert, Stack, Text } from '@mantine/core';
import { JsonValue } from '../../../parts/json-editor/json-value.tsx';
import { text } from '../../../text/text.ts';

const t = text.automations;

/** Edits a setting as JSON, because the inputs of the form would lose a part of it. */
export function RawSetting({
  label,
  value,
  onChange,
  error,
  disabled,
}: {
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
  error?: string | undefined;
  disabled: boolean;
}) {
  return (
    <Stack gap={6}>
      <Alert color="yellow" p="xs">
        <Text size="xs">{t.tooComplex}</Text>
      </Alert>
      <JsonValue label={label} value={value} onChange={onChange} error={error} disabled={disabled} />
    </Stack>
  );
}
