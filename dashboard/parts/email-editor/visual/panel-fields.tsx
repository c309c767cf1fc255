import { ColorInput, Input, SegmentedControl, TextInput } from '@mantine/core';
import { IconAlignCenter, IconAlignLeft, IconAlignRight } from '@tabler/icons-react';
import { useState } from 'react';
import { text } from '../../../text/text.ts';

const words = text.emailEditor;
const COLOR = /^#[0-9a-f]{6}$/i;
const ALIGNMENTS = { left: IconAlignLeft, center: IconAlignCenter, right: IconAlignRight };

interface Field<Value> {
  label: string;
  value: Value | undefined;
  isReadOnly: boolean;
  onChange: (value: Value) => void;
}

/** A text that takes effect when its field loses focus, or with Enter. */
export function AppliedText({ label, value = '', isReadOnly, unit, onChange }: Field<string> & { unit?: string }) {
  const [typed, setTyped] = useTypedText(value);
  const apply = () => typed !== value && onChange(typed);
  return (
    <TextInput
      size="xs"
      label={label}
      value={typed}
      readOnly={isReadOnly}
      {...(unit !== undefined && { rightSection: unit, inputMode: 'numeric', placeholder: words.inherited })}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === 'Enter' && apply()}
    />
  );
}

/**
 * Returns the typed text of a field until the text is applied. If the value changes, for example by undo, the text
 * changes too.
 */
function useTypedText(value: string) {
  const state = useState(value);
  const [applied, setApplied] = useState(value);
  if (applied !== value) {
    setApplied(value);
    state[1](value);
  }
  return state;
}

/** A length in whole pixels. An empty field, or a value that is not from 0 to `max`, changes nothing. */
export function PixelField({ value, onChange, max = 200, ...field }: Field<number> & { max?: number }) {
  const applied = value === undefined ? '' : String(value);
  return (
    <AppliedText
      {...field}
      unit="px"
      value={applied}
      onChange={(typed) => {
        const pixels = Math.round(Number(typed));
        if (typed.trim() !== '' && pixels >= 0 && pixels <= max && pixels !== value) onChange(pixels);
      }}
    />
  );
}

/** A color as `#rrggbb`. */
export function ColorField({ label, value, isReadOnly, onChange }: Field<string>) {
  const [typed, setTyped] = useTypedText(value && COLOR.test(value) ? value : '');
  const applyColor = (color: string) => COLOR.test(color) && color !== value && onChange(color);
  return (
    <ColorInput
      size="xs"
      label={label}
      value={typed}
      onChange={setTyped}
      placeholder={words.inherited}
      readOnly={isReadOnly}
      withEyeDropper={false}
      onChangeEnd={applyColor}
      onBlur={(event) => applyColor(event.currentTarget.value)}
    />
  );
}

export type Alignment = keyof typeof ALIGNMENTS;

/** Left, center or right. */
export function AlignmentField({ label, value = 'left', isReadOnly, onChange }: Field<Alignment>) {
  return (
    <Input.Wrapper label={label} size="xs" labelElement="div">
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={label}
        value={value}
        readOnly={isReadOnly}
        onChange={(next) => onChange(next as Alignment)}
        data={(Object.keys(ALIGNMENTS) as Alignment[]).map((name) => {
          const Icon = ALIGNMENTS[name];
          return {
            value: name,
            label: (
              <Icon
                size={16}
                stroke={1.75}
                aria-label={words.alignments[name]}
                style={{ display: 'block', margin: '0 auto' }}
              />
            ),
          };
        })}
      />
    </Input.Wrapper>
  );
}
