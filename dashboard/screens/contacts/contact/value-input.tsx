import { Group, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core';
import { TextListInput } from '../../../parts/text-list-input.tsx';
import { text } from '../../../text/text.ts';
import { type DataValueType, VALUE_TYPES } from './data-values.ts';

const words = text.contacts.data;

/** An input for a value, by its type. */
export function ValueInput({
  type,
  draft,
  fault,
  onType,
  onDraft,
  focused = false,
}: {
  type: DataValueType;
  draft: string;
  fault: string | undefined;
  onType: (type: DataValueType) => void;
  onDraft: (draft: string) => void;
  focused?: boolean;
}) {
  const common = { 'aria-label': words.value, size: 'xs' as const, error: fault, flex: '1 1 160px' };
  return (
    <Group gap="xs" align="flex-start" style={{ flexGrow: 1 }}>
      <Select
        aria-label={words.type}
        size="xs"
        w={110}
        data={VALUE_TYPES.map((value) => ({ value, label: words.types[value] }))}
        value={type}
        allowDeselect={false}
        onChange={(next) => next && onType(next as DataValueType)}
      />
      {type === 'boolean' ? (
        <SegmentedControl
          size="xs"
          aria-label={words.value}
          value={draft === 'false' ? 'false' : 'true'}
          onChange={onDraft}
          data={[
            { value: 'true', label: words.yes },
            { value: 'false', label: words.no },
          ]}
        />
      ) : type === 'list' ? (
        <TextListInput {...common} autoFocus={focused} json={draft} onChange={onDraft} />
      ) : type === 'json' ? (
        <Textarea
          {...common}
          autosize
          minRows={2}
          maxRows={12}
          autoFocus={focused}
          ff="monospace"
          value={draft}
          onChange={(event) => onDraft(event.currentTarget.value)}
        />
      ) : (
        <TextInput
          {...common}
          type={type === 'date' && !draft.includes('T') ? 'date' : 'text'}
          inputMode={type === 'number' ? 'decimal' : undefined}
          autoFocus={focused}
          value={draft}
          onChange={(event) => onDraft(event.currentTarget.value)}
        />
      )}
    </Group>
  );
}
