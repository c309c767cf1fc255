import { z } from '@hono/zod-openapi';
import { cursorQuery, QuerySwitch, UploadedFile } from '../../http/schemas.ts';

export const IMAGE_MAX_BYTES = 5 * 1024 * 1024;
/**
 * Limit of the body of an upload. It is higher than the limit of an image, because multipart adds boundaries and
 * headers. So an image that is slightly too large gets an error about the image, not about the body.
 */
export const UPLOAD_MAX_BYTES = IMAGE_MAX_BYTES + 64 * 1024;
const LIST_DEFAULT = 50;

export const UploadAsset = z.object({
  file: UploadedFile.openapi({
    type: 'string',
    format: 'binary',
    description: 'A PNG, JPEG, GIF or WebP of at most 5 MB. The type is detected from the content.',
  }),
});

export const ListAssets = cursorQuery(LIST_DEFAULT).extend({
  used: QuerySwitch.optional().openapi({ description: '`true` lists only images in use, `false` only unused images' }),
});

export const DeleteAsset = z.object({
  force: QuerySwitch.optional().openapi({ description: 'Delete the image even if it is in use' }),
});
