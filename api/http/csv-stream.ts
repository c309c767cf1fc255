/** A part of a file that is made while it is sent; `cursor` null when it was the last one. */
export interface CsvPart {
  text: string;
  cursor: string | null;
}

/**
 * A CSV file as it goes over the wire: a part is asked for when the one before has left, so a slow reader costs no
 * memory, and nothing is read any more for one who has gone.
 */
export function csvStream(header: string, next: (cursor: string | undefined) => Promise<CsvPart>): ReadableStream {
  const encoder = new TextEncoder();
  let cursor: string | undefined;
  return new ReadableStream(
    {
      start: (controller) => controller.enqueue(encoder.encode(header)),
      async pull(controller) {
        // Nothing to send would end the asking, so empty parts are passed by.
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

/** The headers of a CSV file to be saved. */
export function csvHeaders(filename: string): Record<string, string> {
  return {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${filename}"`,
    'x-content-type-options': 'nosniff',
  };
}

/** Whether a caller asks for CSV rather than JSON. */
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
