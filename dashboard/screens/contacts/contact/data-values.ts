import { isTextList } from '../../../parts/text-list.ts';

/** The type by which a value of a contact's data is edited. */
export type DataValueType = 'text' | 'number' | 'boolean' | 'date' | 'list' | 'json';
export const VALUE_TYPES: readonly DataValueType[] = ['text', 'number', 'boolean', 'date', 'list', 'json'];

/** The API's rule that separates dates from other strings. */
const ISO_DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Returns the type of a stored value. */
export function detectType(value: unknown): DataValueType {
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return ISO_DATE.test(value) ? 'date' : 'text';
  return isTextList(value) ? 'list' : 'json';
}

/** Returns a value as the text of an input of its type; a list is JSON. */
export function formatForInput(value: unknown, type: DataValueType): string {
  if (type === 'list') return JSON.stringify(isTextList(value) ? value : []);
  if (value === undefined || value === null) return type === 'boolean' ? 'true' : '';
  if (type === 'boolean') return value === true || value === 'true' ? 'true' : 'false';
  if (type === 'json') return JSON.stringify(value, null, 2);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export type Read = { value: unknown } | { fault: 'notEmpty' | 'notANumber' | 'notADate' | 'notJson' };

/** Reads the text of an input as a stored value, or returns its error. */
export function readDraft(text: string, type: DataValueType): Read {
  // The API treats an empty text as a missing value.
  if (text.trim() === '') return { fault: 'notEmpty' };
  switch (type) {
    case 'boolean':
      return { value: text === 'true' };
    case 'number':
      return Number.isFinite(Number(text)) ? { value: Number(text) } : { fault: 'notANumber' };
    case 'date':
      return ISO_DATE.test(text) && !Number.isNaN(Date.parse(text)) ? { value: text } : { fault: 'notADate' };
    case 'list':
    case 'json':
      return readJson(text);
    case 'text':
      return { value: text };
  }
}

function readJson(text: string): Read {
  try {
    const value: unknown = JSON.parse(text);
    return value === null || value === '' ? { fault: 'notEmpty' } : { value };
  } catch {
    return { fault: 'notJson' };
  }
}
