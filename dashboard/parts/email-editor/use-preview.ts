import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiFailure, type ResponseOf } from '../../api/client.ts';
import { listQueryFor } from '../../api/queries.ts';

/** Time without a key press before the text is rendered. */
const TYPING_MS = 350;
/** The time that a response stays in the cache. Each text has its own response, and most are never shown again. */
const CACHED_MS = 60_000;

export interface EditedEmail {
  subject: string;
  /** Empty if there is no preheader. */
  preheader: string;
  body: string;
  type: 'TRANSACTIONAL' | 'MARKETING';
}

/** The error that keeps an email from being rendered, and its position; `line` and `column` start at 1. */
export interface EmailFault {
  field: string;
  message: string;
  line: number | undefined;
  column: number | undefined;
}

export interface EmailPreview {
  /**
   * The last email that was rendered without an error. The screen shows this email while the user corrects an error.
   */
  shown: ResponseOf<'previewTemplate'> | undefined;
  fault: EmailFault | undefined;
  /** Any other failure. */
  error: unknown;
  isFetching: boolean;
  retry: () => void;
}

/** Renders the email for a contact, or without one (null), after a pause in typing. Does nothing if it is not shown. */
export function usePreview(email: EditedEmail, contactId: string | null, isShown = true): EmailPreview {
  const latestRequest = { ...email, subject: email.subject || ' ', contactId };
  const [debounced] = useDebouncedValue(JSON.stringify(latestRequest), TYPING_MS);
  const request = JSON.parse(debounced) as typeof latestRequest;
  const { data, error, isFetching, refetch, isPlaceholderData } = useQuery({
    ...listQueryFor('previewTemplate', { body: request }),
    enabled: isShown && request.body !== '',
    gcTime: CACHED_MS,
    refetchOnWindowFocus: false,
  });
  const [last, setLast] = useState(data);
  if (data && !isPlaceholderData && data !== last) setLast(data);
  const fault = toEmailFault(error);
  return {
    shown: data ?? last,
    fault,
    error: fault ? undefined : (error ?? undefined),
    isFetching,
    retry: () => void refetch(),
  };
}

function toEmailFault(error: unknown): EmailFault | undefined {
  if (!(error instanceof ApiFailure) || error.code !== 'VALIDATION_ERROR') return undefined;
  const [first] = error.fields;
  const readNumber = (name: string) => {
    const value = error.details[name];
    return typeof value === 'number' ? value : undefined;
  };
  return {
    field: first?.field ?? '',
    message: first?.message ?? error.message,
    line: readNumber('line'),
    column: readNumber('column'),
  };
}
