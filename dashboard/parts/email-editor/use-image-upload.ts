import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { text } from '../../text/text.ts';
import { notifyFailure, notifySuccess } from '../notifications.tsx';
import { createImageTag, uploadImage } from './images.ts';

/** Uploads images one after the other and returns the tag of each. A failure is shown, and the others continue. */
export function useImageUpload() {
  const queries = useQueryClient();
  const [underWay, count] = useState(0);
  const upload = useCallback(
    (files: File[], insert: (tag: string) => void) => {
      count((n) => n + files.length);
      void (async () => {
        for (const file of files) {
          try {
            insert(createImageTag(await uploadImage(file)));
            notifySuccess(text.emailEditor.uploaded);
          } catch (error) {
            notifyFailure(error);
          } finally {
            count((n) => n - 1);
          }
        }
        await queries.invalidateQueries({ queryKey: ['listAssets'] });
      })();
    },
    [queries],
  );
  return { upload, isUploading: underWay > 0 };
}
