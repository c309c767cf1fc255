import { AppError, createFieldError } from '../errors.ts';

/**
 * Converts a file that a spreadsheet saved as "Unicode text" to UTF-8: UTF-16 in either byte order, recognized by its
 * byte order mark. Returns any other file unchanged.
 * @throws AppError VALIDATION_ERROR if the bytes after the mark are not UTF-16
 */
export function toUtf8<B extends Uint8Array>(file: B): B | Buffer {
  const encoding = detectUtf16(file);
  if (encoding === undefined) return file;
  try {
    return Buffer.from(new TextDecoder(encoding, { fatal: true }).decode(file));
  } catch {
    throw createFieldError(
      'file',
      'The file is damaged: it starts like UTF-16 text, but the rest cannot be read.',
      'invalid_string',
    );
  }
}

function detectUtf16([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

/** @throws AppError VALIDATION_ERROR if a file is empty, is not UTF-8 text or contains NUL */
export function assertUtf8(file: Uint8Array): void {
  if (file.length === 0) throw createFieldError('file', 'The file is empty.', 'too_small');
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(file);
  } catch (cause) {
    throw createEncodingError('The file is not UTF-8 text.', cause);
  }
  if (file.includes(0)) throw createEncodingError('The file is not a CSV file: it contains binary data.');
}

function createEncodingError(message: string, cause?: unknown): AppError {
  return new AppError('VALIDATION_ERROR', {
    errors: [{ field: 'file', message, code: 'invalid_string' }],
    suggestion: 'Save the file as "CSV UTF-8" and upload it again.',
    cause,
  });
}
