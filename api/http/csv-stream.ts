/** A part of a CSV file. `cursor` is null in the last part. */
export interface CsvPart {
  text: string;
  cursor: string | null;
}

/**
 * Streams a CSV file. Each part is requested after the previous one was sent, so a slow reader costs no memory, and a
 * caller that disconnects stops the reading.
 */
export function streamCsv(header: string, next: (cursor: string | undefined) => Promise<CsvPart>): ReadableStream {
  const encoder = new TextEncoder();
  let cursor: string | undefined;
  return new ReadableStream(
    {
      start: (controller) => controller.enqueue(encoder.encode(header)),
      async pull(controller) {
        // The stream calls `pull` again only after a call that enqueued something, so this loop skips empty parts.
        for (;;) {
          const part = await next(cursor);
          if (part.text !== '') controller.enqueue(encoder.encode(part.text));
          if (part.cursor === null) return controller.close();
          cursor = part.cursor;
          if (part.text !== '') return;
        }
      },
    },
    { highWaterMark: 1 },
  );
}

/** Returns the headers with which a browser saves a CSV file. */
export function createCsvHeaders(filename: string): Record<string, string> {
  return {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${filename}"`,
    'x-content-type-options': 'nosniff',
  };
}

/** Tells whether a caller requests CSV instead of JSON. */
export function acceptsCsv(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map((range) =>
    range
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/),
  );
  return ranges.some(
    ([type, ...parameters]) => type === 'text/csv' && !parameters.some((p) => /^q=0(?:\.0*)?$/.test(p)),
  );
}
