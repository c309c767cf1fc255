/** A part of a CSV file. `cursor` is null in the last part. */
export interface CsvPart {
  text: string;
  cursor: string | null;
}

/**
 * Streams a CSV file. `next` returns the part after a cursor, and is called when the response has taken the previous
 * part. So a slow reader needs memory for only a few parts. A caller that disconnects ends the reading.
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

/** Returns the response headers that make a browser save a CSV file under this name. */
export function createCsvHeaders(filename: string): Record<string, string> {
  return {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${filename}"`,
    'x-content-type-options': 'nosniff',
  };
}

/** Tells whether an `Accept` header names `text/csv` with a weight above 0. */
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
