import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiFailure, type ResponseOf } from '../../api/client.ts';
import { steadyResponseOf } from '../../api/queries.ts';

/** So long nothing is typed before what is written is rendered. */
const TYPING_MS = 350;
/** Each text that is typed has an answer of its own: few are looked at again. */
const KEPT_MS = 60_000;

export interface EditedMail {
  subject: string;
  /** Empty where there is none. */
  preheader: string;
  body: string;
  type: 'TRANSACTIONAL' | 'MARKETING';
}

/** What keeps a mail from being rendered, and where; `line` and `column` from 1. */
export interface MailFault {
  field: string;
  message: string;
  line: number | undefined;
  column: number | undefined;
}

export interface MailPreview {
  /** The last one that could be rendered: it stays while a fault is mended. */
  shown: ResponseOf<'previewTemplate'> | undefined;
  fault: MailFault | undefined;
  /** Any other failure. */
  error: unknown;
  isFetching: boolean;
  retry: () => void;
}

/**
 * The mail as a contact would get it, or nobody in particular (null), rendered anew when nothing is typed for a moment.
 */
export function usePreview(mail: EditedMail, contactId: string | null): MailPreview {
  const asking = { ...mail, subject: mail.subject || ' ', contactId };
  const [asked] = useDebouncedValue(JSON.stringify(asking), TYPING_MS);
  const request = JSON.parse(asked) as typeof asking;
  const { data, error, isFetching, refetch, isPlaceholderData } = useQuery({
    ...steadyResponseOf('previewTemplate', { body: request }),
    enabled: request.body !== '',
    gcTime: KEPT_MS,
    refetchOnWindowFocus: false,
  });
  const [last, keep] = useState(data);
  if (data && !isPlaceholderData && data !== last) keep(data);
  const fault = faultOf(error);
  return {
    shown: data ?? last,
    fault,
    error: fault ? undefined : (error ?? undefined),
    isFetching,
    retry: () => void refetch(),
  };
}

function faultOf(error: unknown): MailFault | undefined {
  if (!(error instanceof ApiFailure) || error.code !== 'VALIDATION_ERROR') return undefined;
  const [first] = error.fields;
  const place = (name: string) => {
    const value = error.details[name];
    return typeof value === 'number' ? value : undefined;
  };
  return {
    field: first?.field ?? '',
    message: first?.message ?? error.message,
    line: place('line'),
    column: place('column'),
  };
}
