import { Alert, Box, Button, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { formatCount } from '../../../parts/count-link.tsx';
import { text } from '../../../text/text.ts';
import classes from './import.module.css';
import { ImportNotes, ImportWarnings } from './import-warnings.tsx';
import { createErrorsCsv } from './rows-with-errors.ts';
import { listHeaders, type Preview } from './use-preview.ts';

const words = text.contacts.import;
/** The number of rows with errors at which an import stops. */
const UNREADABLE_MAX = 1_000;

/** Returns a line for a count, or no line if the count is 0. */
function createLineUnlessZero(count: number, label: string, what: string): [string, number, string][] {
  return count > 0 ? [[label, count, what]] : [];
}

/** Shows the predicted result of the import in numbers, and the rows with errors for download. */
export function Forecast({ preview, result }: { preview: Preview; result: NonNullable<Preview['result']> }) {
  const counts: [string, number, string?][] = [
    [words.rows, result.totalRows],
    [words.created, result.createdCount],
    [words.updated, result.updatedCount],
    [words.failed, result.failureCount],
    ...createLineUnlessZero(result.suppressedCount, words.suppressed, words.suppressedHelp),
    ...createLineUnlessZero(result.resubscribedCount, words.resubscribed, words.resubscribedHelp),
    ...createLineUnlessZero(result.unsubscribedCount, words.unsubscribed, words.unsubscribedHelp),
    ...createLineUnlessZero(result.silentKnownCount, words.silentKnown, words.silentKnownHelp),
    ...createLineUnlessZero(result.silentNewCount, words.silentNew, words.silentNewHelp),
    ...createLineUnlessZero(result.warningCount ?? 0, words.warned, words.warnedHelp),
  ];
  return (
    <>
      <Box component="dl" m={0}>
        {counts.map(([label, n, what]) => (
          <div key={label} className={classes.count}>
            <dt>{label}</dt>
            <dd data-bad={(label === words.failed && n > 0) || undefined}>{formatCount(n)}</dd>
            {what && <dd className={classes.what}>{what}</dd>}
          </div>
        ))}
      </Box>
      {result.unreadableRows >= UNREADABLE_MAX && (
        <Alert color="red" role="alert">
          {words.tooManyErrors}
        </Alert>
      )}
      <ImportNotes notes={result.notes} />
      <ImportWarnings warnings={result.warnings ?? []} />
      {result.errors.length > 0 && (
        <div>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconDownload size={14} aria-hidden />}
            onClick={() => saveCsvFile(createErrorsCsv(listHeaders(preview), result.errors))}
          >
            {words.badRowsCsv}
          </Button>
          <Text size="xs" c="dimmed" mt={4}>
            {words.badRowsHelp}
          </Text>
        </div>
      )}
    </>
  );
}

/** Downloads a text as a file. */
function saveCsvFile(csv: string): void {
  const url = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'bad-rows.csv';
  link.click();
  URL.revokeObjectURL(url);
}
