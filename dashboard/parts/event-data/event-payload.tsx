import { Button } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { text } from '../../text/text.ts';
import { DataFields } from '../data-fields/data-fields.tsx';
import type { RowType } from '../data-fields/rows.ts';
import { PendingLines } from '../pending-lines.tsx';
import { useEventData } from './use-event-data.ts';

const t = text.dataFields.event;
const TYPES: readonly RowType[] = ['text', 'number', 'boolean', 'date', 'list', 'nothing', 'json'];
const NOTHING = {};

/**
 * The inputs for the data of an event that a user simulates or records. The fields start with the values of the latest
 * event with this name, and can be changed.
 */
export function EventPayload({
  eventName,
  onChange,
  onWhole,
}: {
  eventName: string;
  onChange: (data: Record<string, unknown> | undefined) => void;
  /** Called with false while the value lacks a field because of an error, and with true when it is complete again. */
  onWhole?: (whole: boolean) => void;
}) {
  const { fields, last, isRead } = useEventData(eventName);
  // The data as the user has changed it. New payloads do not replace it.
  const [edited, setEdited] = useState<{ data: Record<string, unknown>; rows: string }>();
  // Counts how often the rows were replaced.
  const [round, setRound] = useState(0);
  const latestOnChange = useRef(onChange);
  useEffect(() => {
    latestOnChange.current = onChange;
  });
  const value = edited?.data ?? last?.data;
  useEffect(() => {
    // Unchanged data is reported as well.
    if (isRead) latestOnChange.current(value);
  }, [isRead, value]);
  if (!isRead) return <PendingLines height={60} />;
  const rows = edited?.rows ?? `${round} ${last?.id ?? ''}`;
  // Only top-level fields have a row. A nested field is part of the row of its group.
  const known = fields.filter(({ path }) => !path.includes('.')).map(({ path, ...rest }) => ({ name: path, ...rest }));
  const takeLast = () => {
    setEdited(undefined);
    setRound((before) => before + 1);
  };
  return (
    <div>
      <DataFields
        key={rows}
        label={t.label}
        description={last ? t.lastPayload : t.neverCame}
        value={value ?? NOTHING}
        onChange={(data) => setEdited({ data, rows })}
        {...(onWhole && { onWhole })}
        types={TYPES}
        known={known}
      />
      {edited && last && (
        <Button variant="subtle" color="gray" size="compact-xs" mt={4} onClick={takeLast}>
          {t.takeLast}
        </Button>
      )}
    </div>
  );
}
