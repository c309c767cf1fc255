import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ApiFailure, callApi, type ResponseOf } from '../../../api/client.ts';
import { useSession } from '../../../app/session.ts';
import { type Mapping, recallMapping, rememberMapping } from './mapping.ts';

export type Preview = ResponseOf<'previewImport'>;

/** Returns the form data of a file and its mapping; the API guesses a missing mapping. */
export function toFormData(file: File, mapping: Mapping | undefined): FormData {
  const form = new FormData();
  // The mapping must precede the file, because the file is long.
  if (mapping) form.append('mapping', JSON.stringify(mapping));
  form.append('file', file);
  return form;
}

/**
 * Previews an import after each change of its mapping. The first preview uses the last mapping for these columns, or
 * else the API's guess.
 */
export function usePreview(file: File) {
  const { projectId } = useSession();
  const key = `tidings-import-mappings:${projectId}`;
  const [chosenMapping, choose] = useState<Mapping>();
  const [isRecalled, setRecalled] = useState(false);
  const preview = useQuery<Preview, ApiFailure>({
    // A file of this name may have changed, so its preview is not reused.
    queryKey: ['previewImport', file.name, file.size, file.lastModified, chosenMapping ?? null],
    queryFn: async ({ signal }) => {
      const requestPreview = (mapping: Mapping | undefined) =>
        callApi('previewImport', { body: toFormData(file, mapping) }, { signal });
      if (chosenMapping) return requestPreview(chosenMapping);
      const guessed = await requestPreview(undefined);
      const recalled = recallMapping(readStorage(key), listHeaders(guessed));
      if (!recalled) return guessed;
      setRecalled(true);
      return requestPreview(recalled);
    },
    placeholderData: keepPreviousData,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const mapping = chosenMapping ?? (preview.data?.mapping as Mapping | undefined);
  return {
    preview,
    mapping,
    isRecalled,
    choose,
    /** Stores the mapping for the next file with these columns. */
    storeMapping: () => {
      if (!preview.data || !mapping) return;
      try {
        localStorage.setItem(key, rememberMapping(readStorage(key), listHeaders(preview.data), mapping));
      } catch {
        // The storage is full or blocked. The next file starts with the API's guess again.
      }
    },
  };
}

export function listHeaders({ columns }: Preview): string[] {
  return columns.map(({ header }) => header);
}

function readStorage(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    // The browser blocks its storage.
    return null;
  }
}
