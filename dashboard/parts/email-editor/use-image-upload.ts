import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { text } from '../../text/text.ts';
import { notifyFailure, notifySuccess } from '../notifications.tsx';
import { createImageTag, uploadImage } from './images.ts';

/**
 * Returns `upload`, which uploads images one after the other and calls `insert` with the tag of each. A failure is
 * shown as a notification, and the upload continues with the next image.
 */
export function useImageUpload() {
  const queries = useQueryClient();
  const [pendingCount, setPendingCount] = useState(0);
  const upload = useCallback(
    (files: File[], insert: (tag: string) => void) => {
      setPendingCount((n) => n + files.length);
      void (async () => {
        for (const file of files) {
          try {
            insert(createImageTag(await uploadImage(file)));
            notifySuccess(text.emailEditor.uploaded);
          } catch (error) {
            notifyFailure(error);
          } finally {
            setPendingCount((n) => n - 1);
          }
        }
        await queries.invalidateQueries({ queryKey: ['listAssets'] });
      })();
    },
    [queries],
  );
  return { upload, isUploading: pendingCount > 0 };
}
