import { TagsInput, type TagsInputProps } from '@mantine/core';
import { text } from '../text/text.ts';
import { readJson } from './json-editor/json-fault.ts';
import { isTextList } from './text-list.ts';

/**
 * Edits a list of strings, each ended by Enter; a comma is part of a string. The value is the list as JSON, because the
 * forms that use this input keep every value as text.
 */
export function TextListInput({
  json,
  onChange,
  ...input
}: Omit<TagsInputProps, 'value' | 'onChange'> & { json: string; onChange: (json: string) => void }) {
  return (
    <TagsInput
      {...input}
      placeholder={text.dataFields.listPlaceholder}
      allowDuplicates
      splitChars={[]}
      value={parseStrings(json)}
      onChange={(texts) => onChange(JSON.stringify(texts))}
    />
  );
}

/**
 * Returns the strings of a JSON list. For any other value, such as a text that was typed for another type, the list is
 * empty.
 */
function parseStrings(json: string): string[] {
  const read = readJson(json);
  return 'value' in read && isTextList(read.value) ? read.value : [];
}
