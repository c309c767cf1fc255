import { createRoute } from '@hono/zod-openapi';
import { ASSETS_MAX_BYTES, deleteAsset, listAssets, sumAssets } from '../../../db/assets/assets.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { readImage } from '../../../rules/assets/image.ts';
import { createFieldError } from '../../../rules/errors.ts';
import { isStorable } from '../../../rules/json-body.ts';
import { createTooLargeError } from '../../http/body.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { emptyResponse, errorResponses, jsonResponse, multipartBody } from '../../http/responses.ts';
import { IdParams } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { DeleteAsset, IMAGE_MAX_BYTES, ListAssets, UPLOAD_MAX_BYTES, UploadAsset } from './input.ts';
import { AssetList, AssetRecord, toAssetResponse } from './response.ts';
import { chooseStoreForNewImages } from './store.ts';

const tags = ['Assets'];
const FILENAME_MAX_CHARS = 200;

const uploadRoute = createRoute({
  method: 'post',
  path: '/assets',
  operationId: 'uploadAsset',
  tags,
  summary: 'Upload an image for emails',
  description:
    'Accepts a PNG, JPEG, GIF or WebP of at most 5 MB. The type is detected from the content; any other file returns 422. Uploading the same bytes again returns 200 with the existing image. Anyone can fetch the image at its `url`. A project can have 250 MB and 5,000 images (409).',
  security: allowScopes('templates:edit'),
  maxBodyBytes: UPLOAD_MAX_BYTES,
  request: { body: multipartBody(UploadAsset) },
  responses: {
    200: jsonResponse(AssetRecord, 'The image already exists'),
    201: jsonResponse(AssetRecord, 'Created'),
    ...errorResponses('CONFLICT'),
  },
});

const listRoute = createRoute({
  method: 'get',
  path: '/assets',
  operationId: 'listAssets',
  tags,
  summary: 'List images',
  description: 'Newest first, each with its uses. `total` is counted on the first page only.',
  security: allowScopes('templates:view'),
  request: { query: ListAssets },
  responses: { 200: jsonResponse(AssetList) },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/assets/{id}',
  operationId: 'deleteAsset',
  tags,
  summary: 'Delete an image',
  description:
    'Returns 409 while a template, a campaign or an accepted email uses the image, unless `force=true`. Clients may keep copies that they have fetched.',
  security: allowScopes('templates:edit'),
  request: { params: IdParams, query: DeleteAsset },
  responses: { 204: emptyResponse('Deleted'), ...errorResponses('CONFLICT') },
});

/** Registers the operations on images. */
export function registerAssetRoutes(app: App, deps: Deps): void {
  const { config, db, reads } = deps;
  const store = chooseStoreForNewImages(deps);

  app.openapi(uploadRoute, async (c) => {
    const { projectId } = c.var;
    const { file } = c.req.valid('form');
    if (file.size > IMAGE_MAX_BYTES) throw createTooLargeError(IMAGE_MAX_BYTES);
    const content = Buffer.from(await file.arrayBuffer());
    const image = readImage(content);
    if (!image) throw createFieldError('file', 'Must be a PNG, JPEG, GIF or WebP.', 'invalid_file');
    const hash = await hashContent(projectId, content);
    const { asset, isNew } = await store.save({ projectId, hash, filename: readFileName(file), image, content });
    const response = toAssetResponse(asset, config.publicUrl);
    return isNew ? c.json(response, 201) : c.json(response, 200);
  });

  app.openapi(listRoute, async (c) => {
    const { projectId } = c.var;
    const { items, ...page } = await listAssets(reads, { projectId, ...c.req.valid('query') });
    const { bytes } = await sumAssets(reads, projectId);
    const data = items.map((asset) => toAssetResponse(asset, config.publicUrl));
    return c.json({ data, ...page, bytes, maxBytes: ASSETS_MAX_BYTES }, 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await inTransaction(db, (trx) => deleteAsset(trx, ref, c.req.valid('query').force ?? false));
    return c.body(null, 204);
  });
}

/**
 * Returns the hash for the URL of an image. The hash includes the project, so that a URL does not reveal whether
 * another project has the same image. It is computed outside the event loop.
 */
async function hashContent(projectId: string, content: Buffer): Promise<string> {
  const prefixedContent = Buffer.concat([Buffer.from(`${projectId}\n`), content]);
  return Buffer.from(await crypto.subtle.digest('SHA-256', prefixedContent)).toString('hex');
}

function readFileName(file: File): string | null {
  const name = file.name.slice(0, FILENAME_MAX_CHARS).trim();
  return name !== '' && isStorable(name) ? name : null;
}
