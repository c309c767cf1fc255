import { TagsInput, type TagsInputProps } from '@mantine/core';
import { text } from '../text/text.ts';
import { readJson } from './json-editor/json-fault.ts';
import { isTextList } from './text-list.ts';

/**
 * A list of texts, each ended by Enter; a comma is part of a text. Where forms keep every value as a text, the list is
 * kept as JSON.
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
      value={textsIn(json)}
      onChange={(texts) => onChange(JSON.stringify(texts))}
    />
  );
}

/** None where it is something else, of an input that was another type's before. */
function textsIn(json: string): string[] {
  const read = readJson(json);
  return 'value' in read && isTextList(read.value) ? read.value : [];
}
